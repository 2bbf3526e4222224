export { serve } from './app/main.ts';
export { openLogStorage, openStore } from './app/opening.ts';
export { type Config, readConfig } from './config/config.ts';
