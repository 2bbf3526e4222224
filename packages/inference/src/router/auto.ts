/** The requested name that lets the router choose. */
export const AUTO = 'auto';
