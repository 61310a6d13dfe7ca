/** Errors about usage: several are collected and reported together. */
import { errorCode, HookswitchError } from 'hookswitch'

/** Collects the errors of checks that do not depend on each other. */
export interface Problems {
  /** In the order in which they were found. */
  readonly errors: readonly Error[]
  add(errors: readonly Error[]): void
  /** Runs a check and returns its result; `undefined` if it found something wrong. @throws errors that are not about usage */
  attempt<T>(check: () => T | Promise<T>): Promise<T | undefined>
  /** One error for all that was found. */
  asError(): Error
  /** @throws what was found, if anything was */
  throwAny(): void
}

/** Errors above which the rest is only counted. */
const MAX_REPORTED = 50

export function collectProblems(): Problems {
  const errors: Error[] = []
  return {
    errors,
    add: (found) => void errors.push(...found),
    async attempt(check) {
      try {
        return await check()
      } catch (thrown) {
        if (!isMisuse(thrown)) throw thrown
        errors.push(...problemsOf(thrown))
        return undefined
      }
    },
    asError: () => together(errors),
    throwAny() {
      if (errors.length > 0) throw together(errors)
    },
  }
}

/** One error for all. */
function together(errors: readonly Error[]): Error {
  const [first] = errors
  if (first && errors.length === 1) return first
  const more = errors.length - MAX_REPORTED
  const shown = [...errors.slice(0, MAX_REPORTED), ...(more > 0 ? [new Error(`and ${more} more`)] : [])]
  const sentences = shown.map(({ message }) => message)
  const { field } = first as HookswitchError
  return new HookswitchError(errorCode(first) ?? 'InvalidOption', sentences.join('; '), {
    ...(field !== undefined && { field }),
    cause: shown,
  })
}

/** The errors that one error stands for: itself, unless it was made of several. */
export function problemsOf(thrown: unknown): readonly Error[] {
  const { cause } = (thrown ?? {}) as { readonly cause?: unknown }
  if (Array.isArray(cause)) return cause
  return [thrown instanceof Error ? thrown : new Error(String(thrown))]
}

/** Whether a setting or the accounts file is wrong, so that a restart cannot help. */
export function isMisuse(thrown: unknown): boolean {
  return (
    errorCode(thrown) === 'InvalidOption' || (thrown as HookswitchError | undefined)?.field === '--accounts'
  )
}
