/**
 * The version of this software, which every package, document and page states; a test compares them. Wire formats and
 * the compute descriptor have versions of their own.
 */
export const VERSION = '0.1.0';
