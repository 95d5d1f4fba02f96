"""Meters: instruments that read a change of a real resource from what the world left behind."""

from earnest.meters.evm import EvmMeasurement, EvmMeter, Snapshot
from earnest.meters.idle import control_from
from earnest.meters.junit import JUnitMeter, Measurement, Report, read_report, read_reports
from earnest.meters.testruns import Comparison, Run

__all__ = [
    "Comparison",
    "EvmMeasurement",
    "EvmMeter",
    "JUnitMeter",
    "Measurement",
    "Report",
    "Run",
    "Snapshot",
    "control_from",
    "read_report",
    "read_reports",
]
