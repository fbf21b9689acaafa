"""Pure functions of arrays: trend, co-movement, shift, noise, false discoveries.

Arrays are float64 and finite (`finite` drops the rest and counts it), in order of steps, and at
most about 512 points long: several functions look at every pair of points. Longer series are
reduced to medians of equal counts before they come here.
"""
