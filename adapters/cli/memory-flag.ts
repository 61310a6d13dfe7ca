/** The V8 flag with which the program saves memory. A library must not change the flags of its host's process. */
import { setFlagsFromString } from 'node:v8'

let isSaving = false

/** Saves memory from now on, unless a flag of Node says otherwise. For the program alone. */
export function saveMemory(): void {
  const flags = process.execArgv.filter((flag) => flag.endsWith('optimize-for-size'))
  if (flags.at(-1) === '--no-optimize-for-size') return
  isSaving = true
  if (flags.length === 0) setFlagsFromString('--optimize-for-size')
}

/**
 * Runs work that fills the memory with what stays: then the frequent collections of the flag find nothing, and cost more than
 * the work.
 */
export async function whileFilling<T>(work: () => Promise<T>): Promise<T> {
  if (!isSaving) return work()
  setFlagsFromString('--no-optimize-for-size')
  try {
    return await work()
  } finally {
    setFlagsFromString('--optimize-for-size')
  }
}
