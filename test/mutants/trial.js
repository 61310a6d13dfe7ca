// @ts-check
/** Runs tests of a copy, and says which of them failed first. */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

/** A fault that lets nothing end is as red as one that fails. */
const LIMIT_MS = 240_000

const MEMORY = '/dev/shm'
/** Of some containers it holds 64 MB: less than the servers of two trials need. */
const ENOUGH_BYTES = 2 ** 31

function isRoomy() {
  if (!existsSync(MEMORY)) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= ENOUGH_BYTES
}

/** Where tests keep their files, in memory where there is room; a database server in it runs as somebody else. */
const FILES = mkdtempSync(join(isRoomy() ? MEMORY : tmpdir(), 'hookswitch-trials-'))
chmodSync(FILES, 0o711)
/** @type {Set<number>} leaders of the groups of trials under way */
const leaders = new Set()
process.once('exit', () => {
  for (const leader of leaders) endGroup(leader)
  rmSync(FILES, { recursive: true, force: true })
})

/**
 * @param {string} copy
 * @param {readonly string[]} tests
 * @returns {Promise<{ readonly isRed: boolean, readonly by: string }>} `by`: the first test that failed
 */
export async function tryTests(copy, tests) {
  const report = join(copy, 'report.json')
  rmSync(report, { force: true })
  const vitest = join(copy, 'node_modules', 'vitest', 'vitest.mjs')
  const options = ['run', '--bail=1', '--reporter=json', `--outputFile=${report}`, '--testTimeout=15000']
  const folder = mkdtempSync(join(FILES, 'trial-'))
  chmodSync(folder, 0o711)
  const child = spawn(process.execPath, [vitest, ...options, ...tests], {
    cwd: copy,
    // Generated tests take the seed that they have where nobody watches: a fault is not to be caught by chance.
    env: { ...process.env, CI: 'true', TMPDIR: folder },
    stdio: 'ignore',
    detached: true,
  })
  if (child.pid !== undefined) leaders.add(child.pid)
  let isOut = false
  const limit = setTimeout(() => {
    isOut = true
    endGroup(child.pid)
  }, LIMIT_MS)
  const code = await new Promise((resolve) => child.once('exit', resolve))
  clearTimeout(limit)
  // A worker that hung was killed before it could end its database server.
  endGroup(child.pid)
  if (child.pid !== undefined) leaders.delete(child.pid)
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  if (isOut) return { isRed: true, by: 'it does not end' }
  return code === 0 ? { isRed: false, by: '' } : { isRed: true, by: firstFailure(copy, report) }
}

/** @param {number | undefined} leader of a group of processes, some of which may have ended */
function endGroup(leader) {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL')
  } catch (thrown) {
    if (/** @type {NodeJS.ErrnoException} */ (thrown).code !== 'ESRCH') throw thrown
  }
}

/** @param {string} copy @param {string} report */
function firstFailure(copy, report) {
  if (!existsSync(report)) return 'the tests could not begin'
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
  for (const { name, status, message, assertionResults } of testResults) {
    const file = relative(copy, name)
    const failed = assertionResults.find((/** @type {{ status: string }} */ one) => one.status === 'failed')
    if (failed) return `${file}: ${failed.fullName}`
    if (status === 'failed') return `${file}: ${String(message).split('\n')[0]}`
  }
  return 'outside of any test'
}
