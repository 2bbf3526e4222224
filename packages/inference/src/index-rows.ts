// What the tables of calls are filled and read by, without what makes calls.
export { CALL_PURPOSE } from './calls/call-document.ts';
export { bandOf, bandStarts, UNKNOWN_BAND } from './calls/latency-bands.ts';
export { MAX_NOTES } from './compression-store.ts';
export { LEARNED_SECONDS } from './learning/learning-store.ts';
