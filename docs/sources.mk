# Written documentation. Pages that are generated are listed by what generates them.
dist_doc_DATA += docs/ARCHITECTURE.md
dist_doc_DATA += docs/backends.md
dist_doc_DATA += docs/benchmarks.md
dist_doc_DATA += docs/ir.md
dist_doc_DATA += docs/kernel.md
dist_doc_DATA += docs/language.md
dist_doc_DATA += docs/planning.md
include docs/optimization/sources.mk
# Certificates of the conformance kit from devices that are not here.
EXTRA_DIST += docs/conformance/2026-12-01-nvidia-h200-cuda.json
