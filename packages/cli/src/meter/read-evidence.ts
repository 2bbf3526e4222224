import { type AssessedEvidence, type EvidenceIntake, lineName, TallyError } from '@tallystick/core';
import { watchedEvidence } from './progress.ts';

/** Number of items that are judged together, which bounds the memory that they take. */
const GROUP = 256;

/**
 * Takes the items of an evidence file into the intake.
 * @throws what `readEvidence` does; what `EvidenceIntake` does, with the file and the line in the message
 */
export async function takeEvidence(path: string, intake: EvidenceIntake): Promise<AssessedEvidence> {
  for (const { number, json } of watchedEvidence(path)) {
    try {
      intake.addJson(json, lineName(number));
      if (intake.waiting >= GROUP) await intake.settle();
    } catch (error) {
      await settled(intake, path);
      throw inFile(error, path);
    }
  }
  await settled(intake, path);
  return intake.finish();
}

async function settled(intake: EvidenceIntake, path: string): Promise<void> {
  try {
    await intake.settle();
  } catch (error) {
    throw inFile(error, path);
  }
}

function inFile(error: unknown, path: string): unknown {
  if (!(error instanceof TallyError)) return error;
  const { code, message, field } = error;
  const line = /^line \d+/.exec(field ?? '')?.[0];
  return new TallyError(code, `${path}, ${message}`, { field: line ?? field, cause: error });
}
