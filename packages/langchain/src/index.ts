export {
  type RunReceipt,
  TallystickCallbackHandler,
  type TallystickCallbackHandlerFields,
} from './handler.ts';
