/**
 * The version of this software, as every package, document and page of it says it; a test compares them. Wire formats and
 * the compute descriptor have versions of their own.
 */
export const VERSION = '0.1.0';
