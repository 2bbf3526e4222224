export {
  type RunReceipt,
  TallystickCallbackHandler,
  type TallystickCallbackHandlerFields,
} from './handler.ts';
export { SessionCallbackHandler } from './session-handler.ts';
