"""Makes tiny random models in the formats in which real ones are published, and their goldens. See README.md."""
