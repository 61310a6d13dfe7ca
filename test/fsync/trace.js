// @ts-check
/** What `strace -f -y` saw of a process that writes a log, flushes it and acknowledges. */

/**
 * @typedef {object} Judged
 * @property {number} acknowledged
 * @property {number} flushes of the log
 * @property {readonly string[]} uncovered what was acknowledged before a flush that began after it was written had ended
 */

const CALL = /^(\d+) +(?:<\.\.\. )?(\w+)(\(| resumed>)/

/**
 * Of each mark, in the order of time: written to the log first, then a flush of the log from begin to end, then its
 * acknowledgement.
 *
 * @param {string} text
 * @returns {Judged}
 */
export function judge(text) {
  /** Marks that are in the log, and the flushes that had begun by then. @type {Map<string, number>} */
  const written = new Map()
  /** By process: a flush of the log that has begun. @type {Map<string, number>} */
  const under = new Map()
  let begun = 0
  /** The latest flush that has ended, by the order of their beginnings. */
  let ended = 0
  let flushes = 0
  let acknowledged = 0
  /** @type {string[]} */
  const uncovered = []

  for (const line of text.split('\n')) {
    const [, pid = '', call = '', how] = CALL.exec(line) ?? []
    const isEnd = !line.endsWith('<unfinished ...>')
    if (/^f(data)?sync$/.test(call)) {
      if (how === '(' && line.includes('-wal>')) {
        begun += 1
        under.set(pid, begun)
      }
      const flush = under.get(pid)
      if (flush === undefined || !isEnd) continue
      under.delete(pid)
      if (!line.endsWith(' = 0')) continue
      flushes += 1
      ended = Math.max(ended, flush)
    } else if (how === '(' && line.includes('-wal>')) {
      for (const [mark] of line.matchAll(/marked-\d+-/g)) if (!written.has(mark)) written.set(mark, begun)
    } else if (how === '(' && line.includes('"acknowledged ')) {
      acknowledged += 1
      const mark = /marked-\d+-/.exec(line)?.[0] ?? ''
      const before = written.get(mark)
      if (before === undefined || ended <= before) uncovered.push(mark)
    }
  }
  return { acknowledged, flushes, uncovered }
}
