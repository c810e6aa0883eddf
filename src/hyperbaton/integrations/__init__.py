"""Classes of other toolkits, for those who have them: each module needs an extra of its own."""
