"""Perfect loop nests: from documents, and as the layers of networks become them."""
