import { conversationDocuments } from './conversations.ts';
import type { Document } from './document.ts';
import { logDocuments } from './logs.ts';
import { proseDocuments } from './prose.ts';
import { recordDocuments } from './records.ts';
import { tableDocuments } from './tables.ts';
import { codeDocuments, traceDocuments } from './traces.ts';

/** Every document of the corpus with its questions, the same in every run. */
export function corpus(): Document[] {
  return [
    ...conversationDocuments(),
    ...proseDocuments(),
    ...logDocuments(),
    ...recordDocuments(),
    ...tableDocuments(),
    ...traceDocuments(),
    ...codeDocuments(),
  ];
}
