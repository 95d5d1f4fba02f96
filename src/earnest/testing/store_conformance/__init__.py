"""The contract of `earnest.protocols.Store` as something that can be run: one named law after the other.

A driver's own test needs a `Driver`, which says how to open its stores and how to break them, and one parametrized test:

```python
@pytest.mark.parametrize("law", store_conformance.laws(), ids=str)
def test_law(law: store_conformance.Law, tmp_path: Path) -> None:
    law.run(MyDriver(tmp_path))
```

`check_store(driver)` runs all of them and reports, for use without a test runner. An engine that cannot do something at all (a
store in memory is gone when it is closed) says so in `Driver.features`, and `laws(driver.features)` leaves out what needs it.
"""

from earnest.testing.store_conformance.driver import FEATURES, Break, Driver, Feature
from earnest.testing.store_conformance.law import Broken, Law
from earnest.testing.store_conformance.report import Report, check_store, laws
from earnest.testing.store_conformance.steps import AUTHOR

__all__ = ["AUTHOR", "FEATURES", "Break", "Broken", "Driver", "Feature", "Law", "Report", "check_store", "laws"]
