#!/usr/bin/env python3
"""Prints the polynomial coefficients of the math expansions (the tables in Polynomials.h). Needs mpmath.

Each polynomial interpolates the remaining factor of a function at Chebyshev nodes, in 60 digits, and is then written in
powers of its variable. The largest error relative to the whole function is printed beside it.
"""
from mpmath import mp, mpf, acosh, asin, atan, cos, erf, erfc, exp, log, nstr, pi, polyval, sin, sqrt

mp.dps = 60


def chebyshev_fit(function, low, high, degree):
    """Coefficients, lowest power first."""
    count = degree + 1
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    # Newton's divided differences, then expanded.
    table = [function(x) for x in nodes]
    for level in range(1, count):
        for i in range(count - 1, level - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - level])
    result = [mpf(0)]
    for i in range(count - 1, -1, -1):
        shifted = [mpf(0)] + result
        for k, value in enumerate(result):
            shifted[k] -= nodes[i] * value
        shifted[0] += table[i]
        result = shifted
    return result[:count]


def table(name, function, low, high, degree, whole, part, comment):
    """`part(x, p)` is the function's value when the polynomial is p; `whole(x)` the true value."""
    low, high = mpf(low), mpf(high)
    coefficients = chebyshev_fit(function, low, high, degree)
    worst = mpf(0)
    for i in range(400):
        x = low + (high - low) * (mpf(i) + mpf(1) / 2) / 400
        true = whole(x)
        worst = max(worst, abs((part(x, polyval(coefficients[::-1], x)) - true) / true))
    print(f"/// {comment} Relative error below 2^{nstr(mp.ceil(log(worst, 2)), 4)}.")
    print(f"constexpr double {name}[] = {{")
    print("    " + ", ".join(nstr(c, 20) for c in coefficients) + "};")


half_ln2 = log(mpf(2)) / 2 * mpf("1.0001")
small = mpf("1e-12")


def exp_rest(x):
    return (exp(x) - 1 - x) / x**2 if abs(x) > small else mpf(1) / 2 + x / 6


for name, degree in (("kExp32", 5), ("kExp64", 10)):
    table(name, exp_rest, -half_ln2, half_ln2, degree, exp, lambda x, p: 1 + x + x * x * p,
          "(exp(r) - 1 - r) / r^2 on |r| <= ln(2) / 2.")


def log_rest(z):
    """(log((1 + s) / (1 - s)) - 2 s) / s^3 with z = s^2."""
    if z < small:
        return mpf(2) / 3 + 2 * z / 5
    s = sqrt(z)
    return (log((1 + s) / (1 - s)) - 2 * s) / s**3


z_max = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf("1.0001")
for name, degree in (("kLog32", 3), ("kLog64", 6)):
    table(name, log_rest, mpf(0), z_max, degree, lambda z: log((1 + sqrt(z)) / (1 - sqrt(z))),
          lambda z, p: 2 * sqrt(z) + sqrt(z) ** 3 * p, "(log((1 + s) / (1 - s)) - 2 s) / s^3, in s^2.")
table("kLogTail64", lambda z: (log_rest(z) - mpf(2) / 3) / z if z > small else mpf(2) / 5 + 2 * z / 7, mpf(0), z_max, 7,
      lambda z: log((1 + sqrt(z)) / (1 - sqrt(z))),
      lambda z, p: 2 * sqrt(z) + sqrt(z) ** 3 * (mpf(2) / 3 + z * p), "The same without its first term 2 / 3, over s^2.")


def sin_rest(z):
    r = sqrt(z)
    return (sin(r) - r) / r**3 if z > small else -mpf(1) / 6 + z / 120


def cos_rest(z):
    r = sqrt(z)
    return (cos(r) - 1 + z / 2) / z**2 if z > small else mpf(1) / 24 - z / 720


quarter = (pi / 4 * mpf("1.0001")) ** 2
for name, degree in (("kSin32", 3), ("kSin64", 6)):
    table(name, sin_rest, mpf(0), quarter, degree, lambda z: sin(sqrt(z)), lambda z, p: sqrt(z) + sqrt(z) ** 3 * p,
          "(sin(r) - r) / r^3 on |r| <= pi / 4, in r^2.")
for name, degree in (("kCos32", 3), ("kCos64", 6)):
    table(name, cos_rest, mpf(0), quarter, degree, lambda z: cos(sqrt(z)), lambda z, p: 1 - z / 2 + z * z * p,
          "(cos(r) - 1 + r^2 / 2) / r^4 on |r| <= pi / 4, in r^2.")


def atan_rest(z):
    t = sqrt(z)
    return (atan(t) - t) / t**3 if z > small else -mpf(1) / 3 + z / 5


table("kAtan64", atan_rest, mpf(0), (sqrt(mpf(2)) - 1) ** 2 * mpf("1.0001"), 12, lambda z: atan(sqrt(z)),
      lambda z, p: sqrt(z) + sqrt(z) ** 3 * p, "(atan(t) - t) / t^3 on |t| <= tan(pi / 8), in t^2.")


def asin_rest(z):
    t = sqrt(z)
    return (asin(t) - t) / t**3 if z > small else mpf(1) / 6 + 3 * z / 40


table("kAsin64", asin_rest, mpf(0), mpf("0.25001"), 14, lambda z: asin(sqrt(z)), lambda z, p: sqrt(z) + sqrt(z) ** 3 * p,
      "(asin(t) - t) / t^3 on |t| <= 1/2, in t^2.")


def erf_rest(z):
    x = sqrt(z)
    return erf(x) / x - 1 if z > small else 2 / sqrt(pi) - 1 - 2 * z / (3 * sqrt(pi))


for name, degree in (("kErfSmall32", 6), ("kErfSmall64", 12)):
    table(name, erf_rest, mpf(0), mpf("1.0001"), degree, lambda z: erf(sqrt(z)), lambda z, p: sqrt(z) * (1 + p),
          "erf(x) / x - 1 on |x| <= 1, in x^2.")


def erfc_scaled(u):
    """exp(x^2) erfc(x) (1 + 2 x) for x >= 1, where u = (x - 2) / (x + 2)."""
    x = 2 * (1 + u) / (1 - u)
    return exp(x * x) * erfc(x) * (1 + 2 * x)


def of_u(u):
    return 2 * (1 + u) / (1 - u)


for name, high, degree in (("kErfcLarge32", 4, 8), ("kErfcLarge64", 6, 18)):
    table(name, erfc_scaled, -mpf(1) / 3 - mpf("1e-5"), mpf(high - 2) / (high + 2) + mpf("1e-5"), degree,
          lambda u: erf(of_u(u)), lambda u, p: 1 - exp(-of_u(u) ** 2) * p / (1 + 2 * of_u(u)),
          f"exp(x^2) erfc(x) (1 + 2 x) on 1 <= x <= {high}, in (x - 2) / (x + 2).")

print("/// The bits of 2 / pi after the point, behind one word of zeros.")
mp.dps = 500
value = int(mp.floor(2 / pi * mpf(2) ** (64 * 20)))
words = [0] + [(value >> (64 * (19 - i))) & (2**64 - 1) for i in range(20)]
print("constexpr uint64_t kTwoOverPi[] = {")
print("    " + ", ".join(f"0x{w:016x}" for w in words) + "};")
