// Output files in a folder whose entries another user may have made.
import { openOwn } from '../store/file.ts'
import { CommandError, EXIT, reason } from './exit.ts'
import { Output } from './output.ts'

/** In a folder that others may write to: a link that they have put in the place of the file is not followed. */
export function ownOutput(path: string, isAppended = false): Output {
  try {
    return new Output(path, { fd: openOwn(path, isAppended ? 'a' : 'w', 0o666), isAppended })
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(EXIT.output, `cannot write ${path}: ${reason(error)}`)
  }
}
