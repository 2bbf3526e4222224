/** `@tallystick/sdk/transport`: requests to one service, for clients that define their own bodies and answers. */
export { piecesUpload } from './ndjson.ts';
export { ServiceError } from './service-error.ts';
export { type CallOptions, createTransport, type Reply, type Transport } from './transport.ts';
