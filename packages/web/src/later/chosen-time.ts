import { timeOf } from '../documents.ts';

/** The Unix milliseconds of a UTC time; null after showing that it is none. */
export function chosenTime(text: string): number | null {
  try {
    return timeOf(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    tallystickPage.refuse({ code: 'invalid_time', message: error.message }, 'time');
    return null;
  }
}
