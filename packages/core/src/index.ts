export { type ErrorCode, errorTable, TallyError } from './errors.ts';
export type { JsonObject, JsonPrimitive, JsonValue } from './json/types.ts';
