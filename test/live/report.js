// @ts-check
/** The results of a run: lines while it runs, a table of scenarios and sources, and the exit code. */

/** @typedef {import('./scenario.js').Result} Result */

/** The exit code of a run in which nothing failed and something was skipped: no pass. */
export const SKIPPED = 3

/** The interface of a service: that of `ami-context`, which finds accounts by context, is `ami`. @param {string} source */
export const interfaceOf = (source) => source.replace(/-[a-z].*$/, '')

/** @param {readonly string[]} sources the columns of the table */
export function createReport(sources) {
  /** @type {Map<string, readonly Result[]>} */
  const rows = new Map()
  let skipped = 0
  const isFailed = (/** @type {readonly Result[]} */ results) =>
    results.some(({ problems }) => problems.length > 0)
  return {
    /** Adds a check. @param {string} name @param {readonly Result[]} results */
    add(name, results) {
      rows.set(name, results)
      console.log(`${isFailed(results) ? 'FAILED' : 'passed'}  ${name}`)
      for (const { source, problems } of results)
        for (const problem of problems) console.log(`        ${source === '' ? '' : `${source}: `}${problem}`)
    },
    /** Says what was not tried. @param {string} what */
    skip(what) {
      skipped += 1
      console.log(`SKIPPED ${what}`)
    },
    /** The results in Markdown. */
    table() {
      const cell = (/** @type {readonly Result[]} */ results, /** @type {string} */ source) => {
        const own = results.filter(({ source: name }) => interfaceOf(name) === source)
        if (own.length === 0) return '–'
        return isFailed(own) ? 'failed' : 'passed'
      }
      const lines = [...rows]
        .filter(([, results]) => results.some(({ source }) => source !== ''))
        .map(
          ([name, results]) => `| ${name} | ${sources.map((source) => cell(results, source)).join(' | ')} |`,
        )
      return [`| | ${sources.join(' | ')} |`, `|---|${'---|'.repeat(sources.length)}`, ...lines, ''].join(
        '\n',
      )
    },
    /** Says how many checks passed; returns the exit code. */
    end() {
      const failed = [...rows.values()].filter(isFailed).length
      console.log(`\n${rows.size - failed} passed, ${failed} failed, ${skipped} skipped`)
      if (failed > 0) return 1
      return skipped > 0 ? SKIPPED : 0
    },
  }
}
