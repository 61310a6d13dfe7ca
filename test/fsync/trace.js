// @ts-check
/** Analyzes the output of `strace -f -y` for a process that writes a log, flushes it and acknowledges. */

/**
 * @typedef {object} TraceResult
 * @property {number} acknowledged number of acknowledgements
 * @property {number} flushes number of successful flushes of the log
 * @property {readonly string[]} uncovered marks that were acknowledged before a flush that began after their write had ended
 */

const CALL = /^(\d+) +(?:<\.\.\. )?(\w+)(\(| resumed>)/

/**
 * Checks the order for each mark: written to the log, then a flush of the log from begin to end, then the acknowledgement.
 *
 * @param {string} text
 * @returns {TraceResult}
 */
export function analyzeTrace(text) {
  /** Marks in the log, with the number of flushes that had begun before. @type {Map<string, number>} */
  const written = new Map()
  /** Flushes in progress, by process. @type {Map<string, number>} */
  const inProgress = new Map()
  let begun = 0
  /** The latest flush that has ended, by order of begin. */
  let ended = 0
  let flushes = 0
  let acknowledged = 0
  /** @type {string[]} */
  const uncovered = []

  for (const line of text.split('\n')) {
    const [, pid = '', call = '', phase] = CALL.exec(line) ?? []
    const isEnd = !line.endsWith('<unfinished ...>')
    if (/^f(data)?sync$/.test(call)) {
      if (phase === '(' && line.includes('-wal>')) {
        begun += 1
        inProgress.set(pid, begun)
      }
      const flush = inProgress.get(pid)
      if (flush === undefined || !isEnd) continue
      inProgress.delete(pid)
      if (!line.endsWith(' = 0')) continue
      flushes += 1
      ended = Math.max(ended, flush)
    } else if (phase === '(' && line.includes('-wal>')) {
      for (const [mark] of line.matchAll(/marked-\d+-/g)) if (!written.has(mark)) written.set(mark, begun)
    } else if (phase === '(' && line.includes('"acknowledged ')) {
      acknowledged += 1
      const mark = /marked-\d+-/.exec(line)?.[0] ?? ''
      const before = written.get(mark)
      if (before === undefined || ended <= before) uncovered.push(mark)
    }
  }
  return { acknowledged, flushes, uncovered }
}
