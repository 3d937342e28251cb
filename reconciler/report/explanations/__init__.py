"""Explanations of codes, for `explain`, SARIF and the site."""
