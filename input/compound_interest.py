"""Compound interest: what a deposit grows to, and how long it takes."""

import math

DAYS_PER_YEAR = 365


def future_value(principal: float, annual_rate: float, years: float, periods_per_year: int = 12) -> float:
    """Return what ``principal`` grows to, rounded to cents."""
    if principal < 0:
        raise ValueError("principal must not be negative")
    if annual_rate <= -1:
        raise ValueError(f"annual_rate must be greater than -1, got {annual_rate}")
    if periods_per_year < 1:
        raise ValueError("periods_per_year must be at least 1")
    growth = 1 + annual_rate / periods_per_year
    return round(principal * growth ** (periods_per_year * years), 2)


def years_to_double(annual_rate: float) -> float:
    """Return the years in which a yearly compounded deposit doubles, rounded to two places."""
    if annual_rate <= 0:
        raise ValueError("a deposit only doubles at a positive rate")
    return round(math.log(2) / math.log(1 + annual_rate), 2)


def effective_rate(nominal_rate: float, periods_per_year: int = DAYS_PER_YEAR) -> float:
    """Return the yearly rate that compounding ``periods_per_year`` times amounts to."""
    if not isinstance(periods_per_year, int):
        raise TypeError("periods_per_year must be an int")
    return round((1 + nominal_rate / periods_per_year) ** periods_per_year - 1, 6)
