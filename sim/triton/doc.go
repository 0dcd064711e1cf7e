// Package triton is the face of a simulated Triton Inference Server with an LLM
// backend: the generate extension and KServe's v2 inference protocol over HTTP
// and gRPC, and Triton's metrics, over a face.Service. Protocol buffers are
// read and written by hand, field by field, so that nothing has to be
// registered when the program starts; their numbers are those of KServe's
// open inference protocol with Triton's extensions.
package triton
