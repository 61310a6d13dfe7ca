/** Waiting for work that goes on, which says so when it does not. */

/** Longest time without any progress. */
const PATIENCE_MS = 30_000

/**
 * @template Result
 * @param {() => number} progress how far it is
 * @param {(resolve: (result: Result) => void, reject: (error: Error) => void) => void} work
 * @returns {Promise<Result>}
 */
export async function watched(progress, work) {
  let seen = progress()
  let watch
  try {
    return await new Promise((resolve, reject) => {
      watch = setInterval(() => {
        if (progress() === seen) reject(new Error(`stuck at ${seen}: nothing happened for ${PATIENCE_MS} ms`))
        seen = progress()
      }, PATIENCE_MS)
      work(resolve, reject)
    })
  } finally {
    clearInterval(watch)
  }
}
