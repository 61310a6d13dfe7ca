// @ts-check
/** Runs tests of a copy and reports the first failure. */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

/** A run that does not end counts as failed. */
const LIMIT_MS = 240_000

const MEMORY = '/dev/shm'
/** In some containers /dev/shm holds 64 MB, less than the servers of two trials need. */
const ENOUGH_BYTES = 2 ** 31

function hasSpace() {
  if (!existsSync(MEMORY)) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= ENOUGH_BYTES
}

/** The folder for test files, in memory where there is space. Readable by the user of a database server. */
const FILES = mkdtempSync(join(hasSpace() ? MEMORY : tmpdir(), 'hookswitch-trials-'))
chmodSync(FILES, 0o711)
/** @type {Set<number>} process group leaders of running trials */
const leaders = new Set()
process.once('exit', () => {
  for (const leader of leaders) endGroup(leader)
  rmSync(FILES, { recursive: true, force: true })
})

/**
 * @param {string} copy
 * @param {readonly string[]} tests
 * @returns {Promise<{ readonly hasFailed: boolean, readonly by: string }>} `by`: the first test that failed
 */
export async function tryTests(copy, tests) {
  const report = join(copy, 'report.json')
  rmSync(report, { force: true })
  const vitest = join(copy, 'node_modules', 'vitest', 'vitest.mjs')
  const options = [
    'run',
    '--mode=thorough',
    '--bail=1',
    '--reporter=json',
    `--outputFile=${report}`,
    '--testTimeout=15000',
  ]
  const folder = mkdtempSync(join(FILES, 'trial-'))
  chmodSync(folder, 0o711)
  const child = spawn(process.execPath, [vitest, ...options, ...tests], {
    cwd: copy,
    // CI fixes the seed of property tests, so that no fault is found by chance.
    env: { ...process.env, CI: 'true', TMPDIR: folder },
    stdio: 'ignore',
    detached: true,
  })
  if (child.pid !== undefined) leaders.add(child.pid)
  let hasTimedOut = false
  const limit = setTimeout(() => {
    hasTimedOut = true
    endGroup(child.pid)
  }, LIMIT_MS)
  const code = await new Promise((resolve) => child.once('exit', resolve))
  clearTimeout(limit)
  // A hanging worker was killed before it could stop its database server.
  endGroup(child.pid)
  if (child.pid !== undefined) leaders.delete(child.pid)
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  if (hasTimedOut) return { hasFailed: true, by: 'the run does not end' }
  return code === 0 ? { hasFailed: false, by: '' } : { hasFailed: true, by: firstFailure(copy, report) }
}

/** @param {number | undefined} leader of a process group, which may have ended */
function endGroup(leader) {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL')
  } catch (thrown) {
    if (/** @type {NodeJS.ErrnoException} */ (thrown).code !== 'ESRCH') throw thrown
  }
}

/** @param {string} copy @param {string} report */
function firstFailure(copy, report) {
  if (!existsSync(report)) return 'the tests could not start'
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
  for (const { name, status, message, assertionResults } of testResults) {
    const file = relative(copy, name)
    const failed = assertionResults.find((/** @type {{ status: string }} */ one) => one.status === 'failed')
    if (failed) return `${file}: ${failed.fullName}`
    if (status === 'failed') return `${file}: ${String(message).split('\n')[0]}`
  }
  return 'outside any test'
}
