// @ts-check
/** Runs tests of a copy and reports the first failure. */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

/** A run that does not end counts as failed. */
const LIMIT_MS = 240_000
const SELF_TEST_LIMIT_MS = 1_800_000

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
 * Runs tests of which at least one must fail.
 *
 * @param {string} copy
 * @param {readonly string[]} tests
 * @returns {Promise<{ readonly hasFailed: boolean, readonly by: string }>} `by`: the first test that failed
 */
export async function tryTests(copy, tests) {
  const { code, report } = await runTests(copy, tests, LIMIT_MS, ['--bail=1', '--testTimeout=15000'])
  if (code === undefined) return { hasFailed: true, by: 'the run does not end' }
  return code === 0 ? { hasFailed: false, by: '' } : { hasFailed: true, by: firstFailure(copy, report) }
}

/**
 * Runs a self-test, which has a test per fault that the suite must notice, and others.
 *
 * @param {string} copy
 * @param {string} file
 * @returns {Promise<readonly { readonly title: string, readonly status: string }[]>}
 */
export async function runSelfTest(copy, file) {
  const { report } = await runTests(copy, [file], SELF_TEST_LIMIT_MS, [])
  if (report === undefined) return [{ title: 'starts and ends', status: 'failed' }]
  return report.testResults.flatMap((/** @type {any} */ { assertionResults }) => assertionResults)
}

/**
 * @param {string} copy
 * @param {readonly string[]} tests
 * @param {number} limitMs
 * @param {readonly string[]} extra options of vitest
 * @returns {Promise<{ readonly code: number | undefined, readonly report: any }>} no code after the limit
 */
async function runTests(copy, tests, limitMs, extra) {
  const output = join(copy, 'report.json')
  rmSync(output, { force: true })
  const vitest = join(copy, 'node_modules', 'vitest', 'vitest.mjs')
  const options = ['run', '--mode=thorough', '--reporter=json', `--outputFile=${output}`, ...extra]
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
  }, limitMs)
  const code = await new Promise((resolve) => child.once('exit', resolve))
  clearTimeout(limit)
  // A hanging worker was killed before it could stop its database server.
  endGroup(child.pid)
  if (child.pid !== undefined) leaders.delete(child.pid)
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  const report = existsSync(output) ? JSON.parse(readFileSync(output, 'utf8')) : undefined
  return { code: hasTimedOut ? undefined : code, report }
}

/** @param {number | undefined} leader of a process group, which may have ended */
function endGroup(leader) {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL')
  } catch (thrown) {
    if (/** @type {NodeJS.ErrnoException} */ (thrown).code !== 'ESRCH') throw thrown
  }
}

/** @param {string} copy @param {any} report */
function firstFailure(copy, report) {
  if (report === undefined) return 'the tests could not start'
  for (const { name, status, message, assertionResults } of report.testResults) {
    const file = relative(copy, name)
    const failed = assertionResults.find((/** @type {{ status: string }} */ test) => test.status === 'failed')
    if (failed) return `${file}: ${failed.fullName}`
    if (status === 'failed') return `${file}: ${String(message).split('\n')[0]}`
  }
  return 'outside any test'
}
