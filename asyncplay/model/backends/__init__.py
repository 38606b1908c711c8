"""What can compute estimates: torch, onnxruntime, and a simulated accelerator that computes nothing."""
