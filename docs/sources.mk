# Written documentation. Pages that are generated are listed by what generates them.
