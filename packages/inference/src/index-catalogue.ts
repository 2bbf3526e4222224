// What reads and checks a catalogue, without what calls its providers: the configuration of every command needs it.
export { ollamaUrl } from './catalogue/ollama-host.ts';
export { catalogueEntries, checkCatalogue, readCatalogue } from './catalogue/open.ts';
