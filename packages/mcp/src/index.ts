export { type RecordableServer, recordTools } from './record-tools.ts';
