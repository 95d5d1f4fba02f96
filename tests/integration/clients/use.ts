// A program over the client that a generator makes of the description: it adds, searches, decides and settles.

import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

declare const process: { argv: string[] };
const [, , base, token] = process.argv;
const client = createClient<paths>({ baseUrl: base, headers: { Authorization: `Bearer ${token}` } });
const path = { agent: "typescript" };

const body = { text: "Run the migrations before the smoke tests.", sources: ["retro-12"] };
const made = await client.POST("/v1/agents/{agent}/entries", { params: { path }, body });
if (!made.data) throw new Error(made.error.detail);
const entry: components["schemas"]["Entry"] = made.data;

const query = "Should migrations run before the smoke tests?";
const hits = await client.POST("/v1/agents/{agent}/search", { params: { path }, body: { query } });
if (!hits.data) throw new Error(hits.error.detail);
const first: string | undefined = hits.data.items[0]?.entry.text;

const ticket = await client.POST("/v1/agents/{agent}/decisions", { params: { path }, body: { query } });
if (!ticket.data || ticket.data.id === null) throw new Error("memory is silent");
const params = { path: { ...path, ticket: ticket.data.id } };
const settle = () => client.POST("/v1/agents/{agent}/decisions/{ticket}/settlement", { params, body: { delta: 3, meter: "ci" } });
const settled = await settle();
if (!settled.data) throw new Error(settled.error.detail);
const moved: number[] = settled.data.credits.map((credit) => credit.amount);
const again = await settle();
console.log(JSON.stringify({ id: entry.id, first, landed: settled.data.landed, moved, again: again.response.status, why: again.error?.title }));
