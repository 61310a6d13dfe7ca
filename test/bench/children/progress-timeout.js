/** Waits for work, and fails when it makes no progress. */

/** Longest time without progress. */
const TIMEOUT_MS = 30_000

/**
 * @template Result
 * @param {() => number} progress a number that changes while work proceeds
 * @param {(resolve: (result: Result) => void, reject: (error: Error) => void) => void} work
 * @returns {Promise<Result>}
 */
export async function withProgressTimeout(progress, work) {
  let last = progress()
  let interval
  try {
    return await new Promise((resolve, reject) => {
      interval = setInterval(() => {
        if (progress() === last) reject(new Error(`no progress for ${TIMEOUT_MS} ms at ${last}`))
        last = progress()
      }, TIMEOUT_MS)
      work(resolve, reject)
    })
  } finally {
    clearInterval(interval)
  }
}
