# SPDX-License-Identifier: BSD-3-Clause
"""A linear model that processes train together: rank 0 holds the parameters, the others read them where
they lie and send gradients.

    nagaya run -n 4 python3 parameter_server.py
"""
import nagaya
import numpy

FEATURES, SAMPLES, STEPS, RATE = 20, 500, 300, 0.1

rank, workers = nagaya.rank(), nagaya.size() - 1
truth = numpy.linspace(-1, 1, FEATURES)
if rank == 0:
    parameters = numpy.zeros(FEATURES)
    nagaya.publish("parameters", parameters)
    for _ in range(STEPS * workers):
        gradient, worker, _ = nagaya.receive()
        parameters -= RATE / workers * gradient
        nagaya.send(numpy.empty(0), worker)  # the parameters are new
    error = abs(parameters - truth).max()
    print(f"{workers} workers, largest error {error:.4f}")
    assert error < 0.01, "the model has not converged"
else:
    parameters = nagaya.view(0, "parameters")
    generator = numpy.random.default_rng(rank)
    samples = generator.normal(size=(SAMPLES, FEATURES))
    values = samples @ truth
    for _ in range(STEPS):
        gradient = samples.T @ (samples @ parameters - values) / SAMPLES
        nagaya.send(gradient, 0)
        nagaya.receive(0)
nagaya.barrier()
