/** Pictures in `src/pictures/`, which the server serves by these names. `draw-pictures.ts` makes them. */
export const pictures = ['favicon.ico', 'favicon.svg', 'social.png'] as const;
