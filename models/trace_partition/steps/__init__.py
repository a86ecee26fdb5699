"""The steps of a layer: what each loads, computes and stores."""
