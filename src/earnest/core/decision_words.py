"""The words that `earnest.core.decision` reads, as data: one table per language, one line per role.

Roles (every entry is written in lower case; `stem*` matches any word that begins so; commas separate entries):

    act      a form of an action verb that is advice when it opens a clause (imperative, infinitive)
    nom      a form that names the action (gerund, participle, noun): advice only with a modal, a judgement or a negation
    able     says by itself that acting is right ("disposable")
    keep     protection: keeping, guarding, leaving alone
    need     protection by importance ("required"); steps back where the clause names an act or a keep
    modal    may, can, should, must
    safe     a judgement in favour
    neg      negation; `none` is a negating pronoun ("nothing"); `nor` is one negation however often it is said
    harm     a judgement against, which stands by itself ("dangerous"); `flip` turns what it governs ("avoid", "forget to")
    refute   says that a claim is wrong
    cond     makes advice conditional; `until` does so only beside a negation
    hedge    leaves it open ("perhaps"); `report` gives somebody else's claim ("some say")
    ask      makes the sentence a question; `ask0` does so only where it opens the sentence
    yes, no  an answer in one word
    noise    phrases that look like one of the above and are not
    lead     may stand before an imperative ("please"); `and` joins; `split` begins a new clause
    before   takes the act that follows out of the advice ("before deleting"); `drop` the one that precedes it
    instead  what follows in the clause is what not to do ("rather than"); `without` what is done without
    stop     function words: they carry nothing but tell the languages apart
"""

from __future__ import annotations

from typing import Final

from earnest.core.decision_words_cjk import JA, KO, ZH

EN: Final = {
    "act": "delete, remove, clear, purge, discard, apply, merge, run, rerun, re-run, restart, cancel, erase, wipe, drop, "
    "prune, clean, dispose, trash, uninstall, deploy, install, execute, revert, rollback, reboot, disable, enable, upgrade, "
    "terminate, get rid of, throw away, clean up, roll back",
    "nom": "delet*, removing, removed, removal, removes, clearing, cleared, clearance, purging, purged, discarding, "
    "discarded, applying, applied, merging, merged, running, restarting, restarted, cancelling, canceling, cancelled, "
    "canceled, cancellation, erasing, erased, erasure, wiping, wiped, dropping, dropped, pruning, pruned, cleaning, cleaned, "
    "disposing, disposed, trashing, trashed, deploying, deployed, installing, installed, executing, executed, reverting, "
    "reverted, getting rid of, throwing away, thrown away, cleaned up, cleaning up, uninstalling, rebooting, terminating, "
    "disabling, enabling, upgrading, rolled back, rolling back",
    "able": "disposable, deletable, removable, expendable, can go, may go, should go, safe-to-delete, safe-to-remove, fair game",
    "keep": "keep, keeps, kept, keeping, retain, retains, retained, retaining, preserve, preserves, preserved, preserving, "
    "leave alone, leave it, leave them, leave these, leave in place, left alone, left in place, hold on to, hang on to, "
    "not touch, never touch, hands off, safeguard, safeguarded, untouched, leave, reject, rejected, decline, hold off, skip, "
    "not be touched",
    "need": "required, needed, necessary, essential, critical, vital, important, irreplaceable, indispensable, protected, "
    "protect, protects, valuable, precious, in use, still used, read-only",
    "modal": "can, may, should, must, shall, could, ought, need to, needs to, have to, has to, let, let us, required to, "
    "free to, better, supposed to",
    "safe": "safe, safely, fine, ok, okay, allowed, permitted, permissible, acceptable, harmless, recommend, recommended, "
    "advisable, feel free, wise, sensible, good idea, without risk, without harm, at will, risk-free, approved, reasonable, "
    "worth, right thing, suggest, welcome to, encouraged, advise, advised, best to",
    "nor": "neither, nor",
    "neg": "not, never, no, cannot, no need, by no means, not required to, not needed to, no longer required to, "
    "not necessary to, under no circumstances, at no point, on no account, hardly",
    "none": "nothing, nobody, no one, none, noone",
    "harm": "unsafe, too important, too valuable, too precious, too early, too soon, dangerous, danger, risky, mistake, "
    "forbidden, forbid, forbids, prohibited, prohibits, harmful, bad idea, unwise, disastrous, catastrophic, disaster, "
    "illegal, disallowed, inadvisable, reckless, off limits, off-limits, data loss, terrible idea, against policy",
    "flip": "avoid, avoids, avoiding, prevent, prevents, preventing, refuse, refrain, forget, fail, hesitate, wait, worry, "
    "risk, risks, break, breaks, corrupt, corrupts, damage, damages, destroy, destroys, harm, harms, hurt, hurts, problem, "
    "ruin, stops, objection, reluctant, lose, loses, against, beware, regret",
    "refute": "wrong, false, untrue, incorrect, mistaken, lie, lies, lying, myth, nonsense, not true, not correct, not the case, far from",
    "cond": "only after, only if, only when, only once, only with, only by, only the, if, unless, provided, as long as, "
    "so long as, on condition, not until, assuming, subject to, requires, require, requiring, pending, depends, depending, "
    "in case, except, ask first, back up first, up first, it first, them first, but first, check with, with approval, "
    "with permission, after approval, after confirming, on the condition, given that, only then, ask",
    "until": "until, till",
    "hedge": "maybe, perhaps, might, possibly, probably, unclear, not clear, not sure, unsure, uncertain, not certain, "
    "unknown, likely, would have, could have, should have, had it been, were it, suppose, imagine, hypothetically, "
    "theoretically, in theory, doubt, doubtful, hard to say, i wish, do not know, not known, unlikely",
    "report": "some say, some people say, people say, they say, someone said, somebody said, some claim, claims, claim, "
    "claimed, claiming, allegedly, supposedly, reportedly, rumour has it, rumor has it, rumour, rumor, rumours, it is said, "
    "said to be, some believe, some think, some argue, so-called, believed to be, others say, many say",
    "ask": "whether, what if",
    "ask0": "how, what, why, who, which, is it, is this, is that, is the, are the, are they, are these, are those, can i, "
    "can we, can you, can it, can they, can the, can this, can these, should i, should we, should it, should they, "
    "should the, should this, should these, may i, may we, may the, may it, do i, do we, do you, does it, does the, must i, "
    "must we, could i, could we, could you, would it, shall i, shall we, has anyone, did",
    "yes": "can go ahead, may go ahead, should go ahead, yes, yeah, yep, sure, certainly, of course, go ahead, proceed, "
    "agreed, do it, absolutely, affirmative, by all means, definitely",
    "no": "nope, nay, absolutely not, no way, certainly not, of course not, negative",
    "noise": "lies on, lies in, lies at, lies under, lies there, lie on, lie in, lie at, lie under, lie there, lying on, lying in, "
    "lying around, what lies, ask for, asks for, asked for, asking for, "
    "no approval, no permission, no backup, no confirmation, no restart, not only, not just, even if, "
    "no longer needed, no longer used, no longer required, no longer in use, no longer necessary, no longer, not needed, "
    "not used, not in use, not required, not necessary, never used, never mind, make sure, no matter, no doubt, "
    "keep growing, keeps growing, keep filling, keep in mind, to avoid, to prevent, in no time, not referenced, "
    "not being used, not important, not critical, not essential, not protected, dry run, kept growing, no further, run out, "
    "runs out, without further",
    "lead": "please, just, simply, then, also, always, now, so, immediately, therefore, clearly, obviously, at once, right, "
    "kindly, well, perfectly, completely, entirely, totally, ever, regularly, periodically, really",
    "and": "and, or",
    "split": "but, because, however, although, though, since, yet, whereas, therefore, which means",
    "before": "before, after, when, while, by, how to, once, was, were, had, has been, have been, after having",
    "instead": "rather than, instead of",
    "without": "without",
    "stop": "it, is, are, be, been, this, that, these, those, they, them, the, a, an, to, of, in, on, at, for, you, we, i, "
    "he, she, its, their, our, your, with, as, from, do, does, did, would, will, there, here, any, all, some, old, file, "
    "files, up, under, has, have, by, one",
}

DE: Final = {
    "act": "lösche, löschen, lösch, löscht, entferne, entfernen, entfernt, leere, leeren, bereinige, bereinigen, verwerfe, "
    "verwerfen, anwenden, wende, starte, starten, neustarten, storniere, stornieren, kündige, kündigen, ausführen, führe, "
    "zusammenführen, mergen, merge, abbrechen, brich, installiere, installieren, aufräumen, wegwerfen",
    "nom": "gelöscht*, löschung, löschungen, lösch*, entfernung, geleert, bereinigt, verworfen, angewendet, angewandt, "
    "anwendung, gestartet, neugestartet, storniert, gekündigt, ausgeführt, zusammengeführt, gemergt, abgebrochen, "
    "installiert, aufgeräumt, weggeworfen, entfernen*",
    "able": "löschbar, entbehrlich, verzichtbar",
    "keep": "behalten, behalte, behält, aufbewahr*, aufzubewahren, erhalten, bewahr*, aufheben, aufgehoben, bleiben, bleibt, "
    "geschützt, schütze*, beibehalten, lassen, finger weg, stehen lassen, in ruhe",
    "need": "erforderlich, nötig, notwendig, benötigt, wichtig, gebraucht, unverzichtbar, unersetzlich, unentbehrlich",
    "modal": "kann, können, kannst, könnt, darf, dürfen, darfst, dürft, soll, sollte, sollten, solltest, sollen, muss, "
    "müssen, musst, bitte",
    "safe": "sicher, gefahrlos, unbedenklich, bedenkenlos, problemlos, erlaubt, zulässig, ungefährlich, in ordnung, ok, "
    "okay, empfohlen, empfehle, empfiehlt, ruhig, gestattet, ohne risiko, ohne bedenken, ohne gefahr, harmlos, sinnvoll, "
    "ratsam",
    "neg": "nicht, kein, keine, keinen, keinem, keiner, keines, nie, niemals, weder, keinesfalls, auf keinen fall, "
    "keineswegs, unter keinen umständen",
    "none": "niemand, nichts",
    "harm": "gefährlich*, unsicher, verboten, fehler, riskant*, untersagt, schädlich, unzulässig, verbietet, gefahr, fatal, "
    "datenverlust, leichtsinnig, tabu",
    "flip": "vermeiden, vermeide, vermeidet, verhindert, hindert, gegen, dagegen, zögern, zögere, zögert, vergessen, "
    "vergiss, vergesst, beschädigt, zerstört, risiko, problem, abzuraten, unterlassen, scheuen, schadet, verweigern",
    "refute": "falsch, unwahr, irren, irrt, gelogen, irrtum, lüge, unsinn, nicht wahr, nicht richtig, stimmt nicht, im irrtum",
    "cond": "nur wenn, erst wenn, erst nach, erst nachdem, nur nach, nur nachdem, nur falls, wenn, falls, sofern, solange, "
    "es sei denn, unter der bedingung, vorausgesetzt, nur mit, außer, zuerst, vorher, hängt davon ab, abhängig, im fall",
    "until": "bis",
    "hedge": "vielleicht, eventuell, möglicherweise, wahrscheinlich, vermutlich, unklar, nicht klar, nicht sicher ob, "
    "ungewiss, angenommen, wäre es, hätte, theoretisch, könnte, könnten, womöglich, weiß nicht, wohl",
    "report": "manche sagen, einige sagen, manche behaupten, einige behaupten, behauptet, behaupten, angeblich, es heißt, "
    "gerücht, gerüchten, sagen manche, leute sagen, man sagt, sogenannt*",
    "ask": "ob",
    "ask0": "ist es, sind die, sind sie, ist das, ist die, kann ich, können wir, kann man, darf ich, dürfen wir, darf man, "
    "soll ich, sollen wir, sollte ich, muss ich, wie, warum, wann, was, wer, welche",
    "yes": "ja, jawohl, natürlich, klar, gerne, einverstanden, nur zu, selbstverständlich",
    "no": "nein, nö",
    "noise": "nicht mehr benötigt, nicht mehr gebraucht, nicht benötigt, nicht gebraucht, nicht mehr verwendet, "
    "nicht verwendet, nicht mehr genutzt, nicht nur, auch wenn, selbst wenn, keine genehmigung, nicht mehr nötig, "
    "nicht mehr erforderlich, nicht mehr in gebrauch, nicht wichtig",
    "lead": "einfach, dann, also, jetzt, immer, sofort, daher, bitte, sie, mal, regelmäßig, völlig, absolut, ganz",
    "and": "und, oder",
    "split": "aber, sondern, weil, denn, jedoch, obwohl, doch, da, deshalb",
    "before": "bevor, vor dem, nach dem, beim, vor der, wurde, wurden, durch das",
    "drop": "bevor sie",
    "instead": "statt, anstatt, anstelle",
    "without": "ohne",
    "stop": "der, die, das, den, dem, des, ein, eine, einen, ist, sind, es, zu, werden, wird, sie, man, von, im, in, auf, "
    "für, mit, diese, dieser, dieses, alte, datei, dateien, unter, wir, ich, du, dass, nach, zum, hat, haben, wäre",
}

FR: Final = {
    "act": "supprimer, supprimez, supprime, supprimons, effacer, effacez, efface, effaçons, enlever, enlevez, retirer, "
    "retirez, retire, vider, videz, vide, purger, purgez, purge, nettoyer, nettoyez, jeter, jetez, appliquer, appliquez, "
    "applique, fusionner, fusionnez, fusionne, exécuter, exécutez, lancer, lancez, lance, redémarrer, redémarrez, annuler, "
    "annulez, annule, résilier, résiliez, installer, installez",
    "nom": "supprim*, suppression, suppressions, effac*, effacement, enlev*, retiré, retirés, retirée, retirées, vidé, "
    "vidés, vidée, vidées, purgé, purgés, purgée, purgées, nettoy*, nettoyage, jeté, jetés, jetée, jetées, appliqu*, "
    "application, fusionn*, fusion, exécut*, lancé, lancée, redémarr*, annul*, résili*, installé, installée",
    "able": "jetable, jetables, superflu et supprimable, supprimable, supprimables",
    "keep": "conserv*, garder, gardez, garde, gardé, gardés, gardée, gardées, protég*, préserv*, maintenir, maintenu, "
    "maintenus, laisser, laissez, maintenue, maintenues, toucher, touchez",
    "need": "requis, requise, requises, nécessaire, nécessaires, indispensable, indispensables, essentiel, essentiels, "
    "essentielles, important, importants, importante, importantes, vital, vitaux, irremplaçable, irremplaçables",
    "modal": "peut, peuvent, pouvez, peux, pouvons, doit, doivent, devez, dois, devons, faut, devrait, devraient, devriez, il faut",
    "safe": "sûr, sûrs, sûre, sûres, sans risque, sans danger, sans problème, sans crainte, autorisé, autorisés, autorisée, "
    "autorisées, permis, permise, recommandé, recommandée, recommandons, conseillé, acceptable, inoffensif, inoffensive, "
    "possible, tranquillement, sécurité, libre de, bonne idée, n'hésitez pas, raisonnable",
    "neg": "pas, jamais, aucun, aucune, ni, nullement, en aucun cas, non",
    "none": "rien, personne, nul",
    "harm": "dangereux, dangereuse, dangereuses, interdit, interdite, interdits, interdites, erreur, risqué, risquée, "
    "imprudent, imprudente, nuisible, mauvaise idée, défendu, proscrit, proscrite, perte de données, catastrophique, danger",
    "flip": "éviter, évitez, évite, empêche, empêchent, interdire, contre, oublier, oubliez, hésiter, hésitez, attendre, "
    "casse, casserait, risque, risques, problème, refuser, refusez, endommage, oppose, abstenez, abstenir, déconseillé, "
    "déconseillée",
    "refute": "faux, fausse, tort, trompent, trompe, mensonge, pas vrai, inexact, se trompent, erroné",
    "cond": "seulement après, seulement si, uniquement si, uniquement après, qu'après, si, sauf si, à moins que, à moins, "
    "à condition, pourvu que, tant que, pas avant, sous réserve, d'abord, dépend, que si, dans le cas où, sauf, qu'une fois",
    "until": "avant, jusqu",
    "hedge": "peut-être, probablement, sans doute, éventuellement, pas clair, pas sûr que, pas certain, incertain, "
    "supposons, théoriquement, en théorie, aurait, auraient, pourrait, pourraient, sais pas, serait-il",
    "report": "certains disent, certains prétendent, certains affirment, on dit, prétend, prétendent, prétendument, "
    "soi-disant, il paraît, selon la rumeur, rumeur, paraît-il, affirment, disent certains, les gens disent, "
    "d'autres disent, à ce qu'on dit",
    "ask": "est-ce qu, est-ce que, peut-on, puis-je, faut-il, doit-on, pouvons-nous, est-il, sont-ils, devons-nous, dois-je, savoir si",
    "ask0": "comment, pourquoi, quand, qui, quel, quels, quelle",
    "yes": "oui, d'accord, bien sûr, allez-y, certainement, absolument, vas-y",
    "no": "non, surtout pas, absolument pas, certainement pas",
    "noise": "plus utilisé, plus utilisés, plus nécessaires, plus nécessaire, pas utilisés, pas utilisé, même si, "
    "pas seulement, pas seul, plus besoin, rien de plus, pas importants, pas important, aucune autorisation",
    "lead": "veuillez, donc, alors, toujours, simplement, maintenant, aussi, immédiatement, régulièrement, tout, parfaitement, ne, n",
    "and": "et, ou",
    "split": "mais, car, parce, cependant, toutefois, puisque, donc, or, pourtant, bien que",
    "before": "avant de, après avoir, en, lors de, avant la, avant d, comment, a été, ont été",
    "instead": "plutôt que, au lieu de, au lieu d",
    "without": "sans",
    "stop": "le, la, les, l, un, une, des, de, du, d, est, sont, être, ce, ces, cette, c, il, elle, ils, elles, on, vous, "
    "nous, je, que, qu, qui, à, au, aux, en, dans, sur, sous, pour, par, avec, s, se, fichiers, fichier, anciens, après, "
    "serait, y, a, été, sera, cela, plus",
}

ES: Final = {
    "act": "elimina, eliminar, elimine, eliminen, elimínalo, elimínelo, elimínelos, elimínalos, borra, borrar, borre, "
    "borren, bórralo, bórrelo, bórralos, bórrelos, quita, quitar, quite, limpia, limpiar, limpie, vacía, vaciar, vacíe, "
    "purga, purgar, purgue, descarta, descartar, descarte, aplica, aplicar, aplique, aplícalo, fusiona, fusionar, fusione, "
    "ejecuta, ejecutar, ejecute, reinicia, reiniciar, reinicie, cancela, cancelar, cancele, suprime, suprimir, instala, "
    "instalar, instale, tira, tirar",
    "nom": "elimin*, borr*, quit*, limpieza, limpi*, vaciar*, vaci*, purg*, descart*, aplic*, apliq*, fusion*, ejecu*, "
    "reinici*, cancel*, suprim*, supresión, instal*",
    "able": "desechable, desechables, prescindible, prescindibles",
    "keep": "conserv*, mantener*, mantenga, mantén, mantenerse, guardar*, guarde, guarda, guarden, proteg*, preserv*, "
    "reten*, retenga, dejar, deja, deje, tocar, toque, toques",
    "need": "requerido, requeridos, requerida, requeridas, necesario, necesarios, necesaria, necesarias, imprescindible, "
    "imprescindibles, esencial, esenciales, importante, importantes, vital, vitales, crítico, críticos, obligatorio",
    "modal": "puede, pueden, puedes, podemos, debe, deben, debes, debería, deberían, deberías, hay que, tiene que, "
    "tienen que, conviene, por favor",
    "safe": "seguro, segura, seguros, seguras, seguridad, sin riesgo, sin peligro, sin problema, sin problemas, permitido, "
    "permitida, permitidos, recomendable, recomendado, recomiendo, recomienda, aceptable, inofensivo, adelante, "
    "tranquilamente, buena idea, aconsejable, sin miedo, correcto, libremente",
    "neg": "no, nunca, jamás, ni, tampoco, ningún, ninguna, ninguno, en ningún caso, de ninguna manera",
    "none": "nada, nadie",
    "harm": "peligroso, peligrosa, peligrosos, peligrosas, prohibido, prohibida, prohibidos, error, arriesgado, inseguro, "
    "insegura, inseguros, mala idea, dañino, imprudente, pérdida de datos, desaconsejable, desaconsejado, grave, peligro",
    "flip": "evitar, evite, evita, impide, impida, impiden, prohíbe, prohíba, contra, olvidar, olvides, olvide, dude, dudes, "
    "dudar, esperar, rompe, rompería, riesgo, problema, negarse, daña, abstenerse",
    "refute": "falso, falsa, equivocan, equivoca, equivocados, mentira, incorrecto, errónea, no es cierto, no es verdad, mienten",
    "cond": "solo después, sólo después, solo si, sólo si, solo cuando, únicamente si, únicamente después, si, a menos que, "
    "siempre que, siempre y cuando, con tal de, mientras, a no ser, salvo, excepto, depende, primero, antes hay que, "
    "en caso de, solo tras, sólo tras",
    "until": "hasta",
    "hedge": "quizás, quizá, tal vez, probablemente, posiblemente, a lo mejor, no está claro, no estoy seguro, no lo sé, "
    "incierto, supongamos, en teoría, teóricamente, habría, hubiera, podría, podrían, acaso, dudo",
    "report": "algunos dicen, hay quien dice, dicen que, se dice, afirman, algunos afirman, supuestamente, presuntamente, "
    "rumor, según rumores, pretenden, algunos creen, la gente dice, otros dicen, aseguran",
    "ask": "saber si",
    "ask0": "es seguro eliminarlo, cómo, por qué, cuándo, qué, quién, cuál, se puede, puedo",
    "yes": "sí, claro, por supuesto, adelante, desde luego, de acuerdo, hazlo, hágalo",
    "no": "claro que no, por supuesto que no, desde luego que no",
    "noise": "ya no se usan, ya no se usa, ya no se necesitan, ya no se necesita, ya no son necesarios, ya no es necesario, "
    "no se usan, no se usa, no se utilizan, aunque no, no solo, no sólo, incluso si, aun si, ni siquiera si, "
    "no son importantes, no hace falta permiso, sin problema alguno",
    "lead": "entonces, simplemente, ahora, siempre, también, inmediatamente, pues, regularmente, totalmente, completamente, "
    "perfectamente, es",
    "and": "y, e, o, u",
    "split": "pero, porque, sino, sin embargo, aunque, pues, ya que",
    "before": "antes de, después de, al, tras, cómo, fue, fueron, han sido, ha sido",
    "instead": "en lugar de, en vez de",
    "without": "sin",
    "stop": "el, la, los, las, un, una, unos, unas, de, del, es, son, ser, este, esta, estos, estas, eso, lo, le, que, en, "
    "a, al, para, por, con, se, archivos, archivo, antiguos, ficheros, está, están, hay, sería, después, su, sus, usted, bajo",
}

PT: Final = {
    "act": "exclua, excluir, excluam, exclui, apague, apagar, apaguem, apaga, apague-o, apague-os, remova, remover, removam, "
    "remove, delete, deletar, deleta, elimine, eliminar, elimina, limpe, limpar, limpa, esvazie, esvaziar, descarte, "
    "descartar, descarta, aplique, aplicar, aplica, mescle, mesclar, execute, executar, reinicie, reiniciar, cancele, "
    "cancelar, cancela, instale, instalar, expurgue, expurgar, jogue fora",
    "nom": "exclu*, exclusão, apag*, remo*, remoção, delet*, elimin*, limpeza, limpos, limpo, limpa*, esvazi*, descart*, "
    "aplic*, apliq*, mescl*, execu*, reinici*, cancel*, instal*, expurg*, removid*",
    "able": "descartável, descartáveis, dispensável, dispensáveis",
    "keep": "mant*, conserv*, guard*, preserv*, proteg*, reter, retido, retidos, retida, retidas, deixar, deixe, mexa, mexer, toque",
    "need": "necessário, necessários, necessária, necessárias, exigido, exigidos, obrigatório, obrigatórios, essencial, "
    "essenciais, importante, importantes, vital, vitais, crítico, críticos, imprescindível, imprescindíveis",
    "modal": "pode, podem, podemos, deve, devem, devemos, deveria, deveriam, tem de, tem que, têm de, têm que, por favor, convém",
    "safe": "seguro, segura, seguros, seguras, segurança, sem risco, sem perigo, sem problema, sem problemas, permitido, "
    "permitida, permitidos, recomendável, recomendado, recomendo, recomenda, aceitável, inofensivo, tranquilamente, "
    "boa ideia, aconselhável, sem medo, à vontade",
    "neg": "não, nunca, jamais, nem, nenhum, nenhuma, tampouco, de forma alguma, em hipótese alguma, de jeito nenhum",
    "none": "nada, ninguém",
    "harm": "perigoso, perigosa, perigosos, perigosas, proibido, proibida, proibidos, erro, arriscado, arriscada, inseguro, "
    "insegura, inseguros, má ideia, prejudicial, imprudente, perda de dados, desaconselhável, desaconselhado, perigo",
    "flip": "evitar, evite, evita, impede, impeça, impedem, proíbe, proíba, contra, esquecer, esqueça, hesite, hesitar, "
    "esperar, quebra, quebraria, risco, problema, recusar, danifica",
    "refute": "falso, falsa, enganados, engana, enganam, errados, errado, errada, mentira, incorreto, não é verdade, mentem",
    "cond": "só depois, somente depois, apenas depois, só após, somente após, apenas após, só se, somente se, apenas se, "
    "só quando, se, a menos que, desde que, contanto que, enquanto, a não ser, salvo, exceto, depende, primeiro, em caso de, "
    "caso",
    "until": "até, antes",
    "hedge": "talvez, provavelmente, possivelmente, não está claro, não tenho certeza, não sei, incerto, suponhamos, "
    "em teoria, teoricamente, teria, tivesse, poderia, poderiam, quiçá, duvido",
    "report": "alguns dizem, há quem diga, dizem que, diz-se, afirmam, alguns afirmam, supostamente, alegadamente, boato, "
    "boatos, alguns acreditam, as pessoas dizem, outros dizem, alegam",
    "ask": "saber se, será que",
    "ask0": "como, por que, quando, quem, qual, posso, podemos apagar, é seguro excluí-lo",
    "yes": "sim, claro, com certeza, vá em frente, pode sim, de acordo, certamente",
    "no": "claro que não, com certeza não, de modo algum",
    "noise": "não são mais usados, não é mais usado, não são mais necessários, não é mais necessário, não são usados, "
    "não é usado, não mais, não só, não apenas, mesmo se, mesmo que, não são importantes, já não são necessários, "
    "já não são usados, se pode, se podem, se deve, se devem",
    "lead": "então, simplesmente, agora, sempre, também, imediatamente, regularmente, totalmente, completamente, perfeitamente, é",
    "and": "e, ou",
    "split": "mas, porque, porém, contudo, embora, pois, já que, entretanto",
    "before": "antes de, depois de, ao, após, como, foi, foram",
    "instead": "em vez de, ao invés de, em lugar de",
    "without": "sem",
    "stop": "o, a, os, as, um, uma, uns, umas, de, do, da, dos, das, é, são, ser, este, esta, estes, estas, isso, isto, no, "
    "na, nos, nas, em, para, por, com, que, arquivos, arquivo, ficheiros, antigos, está, estão, há, seria, depois, após, "
    "ele, eles, você, sob, los, lo",
}

RU: Final = {
    "act": "удали, удалить, удалите, удаляй, удаляйте, удалять, сотри, стереть, сотрите, стирай, очисти, очистить, очистите, "
    "очищай, очищайте, очищать, убери, убрать, уберите, примени, применить, примените, применяй, применяйте, слить, слей, "
    "слейте, объединить, объедините, запусти, запустить, запустите, запускай, запускать, перезапусти, перезапустить, "
    "перезапустите, отмени, отменить, отмените, выполни, выполнить, выполните, сбросить, сбросьте, выбросить, выбросьте, "
    "установить, установите, удалим",
    "nom": "удал*, стира*, стёр*, очищ*, очист*, убира*, убран*, примен*, слия*, слит*, запуск*, запущ*, перезапу*, отмен*, "
    "выполн*, сброс*, выброс*, установл*",
    "able": "удаляемы, излишни и удаляемы",
    "keep": "храни*, хранят*, хранить, хранен*, сохран*, оставь, оставьте, оставить, оставлять, оставлены, оставлен, защищ*, "
    "защит*, беречь, берегите, трогать, трогайте, трогай, держать",
    "need": "необходим*, обязательн*, важн*, критич*, нужен, нужна, нужны, требуется, требуются, незаменим*",
    "modal": "можно, могут, может, можете, можешь, можем, следует, должны, должен, должна, должно, нужно, надо, стоит, "
    "пожалуйста, давайте, вправе",
    "safe": "безопасно, безопасн*, разрешено, разрешается, разрешена, разрешены, допустимо, допускается, рекомендуется, "
    "рекомендую, без риска, без опасений, смело, спокойно, нормально, безвредно, целесообразно, позволено, не страшно",
    "neg": "не, нет, нельзя, никогда, ни, никакие, никаких, нигде, ни в коем случае, ни при каких обстоятельствах, незачем",
    "none": "никто, ничто, ничего, никому",
    "harm": "опасн*, небезопасн*, ошибк*, ошибочн*, запрещ*, рискованн*, вредн*, недопустим*, плохая идея, потеря данных, потере данных",
    "flip": "избегать, избегайте, мешает, препятствует, запрещает, против, забудь, забудьте, забывайте, забывай, бойтесь, "
    "сомневайтесь, ломает, сломает, риск, проблема, откажитесь, воздержитесь, повредит, повреждает, стесняйтесь",
    "refute": "неверно, неправда, ложь, ошибаются, ошибается, неправы, лгут, не так, не правда, не верно, заблуждаются",
    "cond": "только после, только если, только когда, лишь после, лишь если, если, при условии, пока не, до тех пор, "
    "кроме случаев, кроме, сначала, в случае, только с, при наличии, зависит, разве что, не раньше, не ранее, прежде",
    "until": "пока, до",
    "hedge": "возможно, вероятно, наверное, наверно, может быть, должно быть, неясно, непонятно, неизвестно, не уверен, "
    "не ясно, не знаю, предположим, теоретически, допустим, пожалуй, сомневаюсь",
    "report": "говорят, некоторые говорят, кто-то говорит, утверждают, якобы, по слухам, слухи, некоторые считают, "
    "некоторые утверждают, считается, ходят слухи",
    "ask": "ли, можно ли",
    "ask0": "как, почему, зачем, когда, кто, какие",
    "yes": "да, конечно, разумеется, вперёд, хорошо, согласен, безусловно",
    "no": "нет, конечно нет, ни за что",
    "noise": "больше не нужны, больше не нужен, больше не используются, больше не используется, не используются, "
    "не используется, уже не нужны, не только, даже если, не нужны, не важны, никто не использует, никто не пользуется, "
    "ненужные, ненужный",
    "lead": "просто, тогда, всегда, сразу, также, поэтому, сейчас, немедленно, регулярно, совершенно, абсолютно, вполне, это",
    "and": "и, или",
    "split": "но, потому, так как, однако, хотя, а, поскольку, зато",
    "before": "перед, после, прежде чем, перед тем как, при, был, была, были, уже",
    "instead": "вместо, а не",
    "without": "без",
    "stop": "это, эти, этот, эта, в, на, с, их, его, её, она, они, он, вы, мы, я, что, по, из, для, к, у, о, файл, файлы, "
    "старые, быть, было, будет, через, же, бы, том",
}

AR: Final = {
    "act": "احذف, احذفها, احذفه, احذفوا, امسح, امسحها, امسحه, ازل, ازلها, طبق, طبقه, طبقها, ادمج, ادمجه, شغل, شغله, "
    "اعد تشغيل, الغ, الغه, نفذ, نفذه, نظف, افرغ, تخلص, ثبت",
    "nom": "حذف*, تحذف*, يحذف*, نحذف*, مسح*, تمسح*, يمسح*, ازاله*, ازالت*, تزيل*, يزال*, تزال*, تطبيق*, تطبق*, يطبق*, دمج*, "
    "تدمج*, يدمج*, تشغيل*, تشغل*, الغاء*, الغائ*, تلغ*, يلغي, تنفيذ*, تنفذ*, تنظيف*, افراغ*, التخلص, تخلص, تثبيت*",
    "able": "قابله للحذف, قابل للحذف, يمكن الاستغناء",
    "keep": "احتفظ*, احتفاظ*, تحتفظ*, يحتفظ*, محفوظ*, ابق, ابقاء*, تبقي, يبقي, صون, حمايه, تلمس*, اترك, اتركها, الابقاء",
    "need": "محمي*, ضروري*, مطلوب*, مهم*, لازم*, اساسي*, حرج*, ثمين*",
    "modal": "يمكن, يمكنك, يمكننا, يمكنكم, يجوز, يجب, ينبغي, بامكانك, تستطيع, عليك, من فضلك, يحق",
    "safe": "امن*, بامان, مسموح*, يسمح, لا باس, لا مانع, يفضل, ينصح بحذف, من الافضل, يوصي, مقبول*, بدون خطر, دون خطر, "
    "غير ضار*, بلا خطر, لا حرج, لا خوف, دون مخاطره, فكره جيده, مستحسن, موصي",
    "neg": "لا, لم, لن, ليس, ليست, ليسوا, غير, ما من, عدم, اياك, لا ينبغي",
    "none": "لا شيء, لا احد",
    "harm": "خطر*, خطير*, خطا, ممنوع*, محظور*, يحظر, ضار*, فكره سييه, فكره سيئه, فقدان البيانات, خاطر, كارثه, غلطه",
    "flip": "تجنب*, يمنع*, تنس, تنسي, تتردد, يضر, يفسد, يتلف, مشكله, مخاطره, ضد, يعارض, امتنع*",
    "refute": "مخط*, خاطئ*, كاذب*, كذب*, غير صحيح, ليس صحيحا, باطل, مخطءون, يكذبون, واهمون",
    "cond": "الا بعد, الا اذا, فقط بعد, فقط اذا, اذا, بشرط, شريطه, ما لم, طالما, لو, في حال, بعد التاكد, ان كان, ان كانت, اولا, فقط",
    "until": "حتي, قبل",
    "hedge": "ربما, قد, لعل, لعله, محتمل, من المحتمل, غير واضح, لست متاكدا, لا ادري, لا اعرف, غير موكد, غير معروف, نظريا, افترض",
    "report": "يقول البعض, يزعم*, يقال, يدعي*, بعض الناس يقولون, شائعه, اشاعه, يزعم البعض, يقولون, قيل, حسب الشائعات",
    "ask0": "هل, كيف, لماذا, متي, ماذا",
    "yes": "نعم, اجل, بالطبع, بالتاكيد, طبعا, حسنا, تفضل, موافق",
    "no": "لا, كلا, لا ابدا, بالطبع لا, ابدا",
    "noise": "لم تعد مستخدمه, لم تعد مطلوبه, لم يعد مستخدما, لم يعد ضروريا, لم تعد ضروريه, غير مستخدمه, غير مستخدم, "
    "لا تستخدم, ليس فقط, حتي لو, حتي وان, غير مهمه, غير ضروريه, لم تعد, بعد الان",
    "lead": "فقط احذف, ثم, الان, دائما, ايضا, فورا, تماما, بانتظام, رجاء, مجرد",
    "and": "و, او",
    "split": "لكن, لكنها, لكنه, لكنهم, ولكن, ولكنهم, لان, لانها, لانه, بل, اما, غير ان, بينما",
    "before": "قبل, بعد, عند, تم, كيفيه, جري",
    "instead": "بدلا من, عوضا عن",
    "without": "بدون, دون",
    "stop": "هذه, هذا, هذان, التي, الذي, في, علي, من, الي, عن, ان, انها, انه, هي, هو, هم, ملف, ملفات, الملف, الملفات, "
    "القديمه, كل, مع, تحت, كان, سيكون, يكون, تكون",
}

TABLES: Final = {"en": EN, "de": DE, "fr": FR, "es": ES, "pt": PT, "ru": RU, "ar": AR, "zh": ZH, "ja": JA, "ko": KO}
