/** P4 and P5: reads of a webhook with a token, compared with servers that send the same bytes without any work. */

import { startProcess } from './processes.js'
import { compareRates, interleave, ratesOf } from './statistics.js'

const CONNECTIONS = 32

/** Headers that the server adds itself. */
const SERVER_HEADERS = new Set(['connection', 'date', 'keep-alive', 'x-powered-by'])

/** The response of the hookswitch server, for the baseline to repeat. */
async function fetchResponse({ port, path, token }) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-auth-token': token } })
  const body = await response.text()
  if (response.status !== 200) throw new Error(`responded ${response.status}: ${body}`)
  const headers = [...response.headers].filter(([name]) => !SERVER_HEADERS.has(name))
  return { headers: Object.fromEntries(headers), body }
}

async function compareServers({ rounds, profile, ours, baseline, count }) {
  const load = startProcess('http-load')
  const ourProcess = startProcess('http-server', { profile })
  const baselineProcess = startProcess('http-server')
  try {
    const target = await ourProcess.request('listen', { kind: ours })
    const response = await fetchResponse(target)
    const { port: baselinePort } = await baselineProcess.request('listen', { kind: baseline, response })
    const { path, token } = target
    const round = (process, port, requests) => async () => {
      const before = await process.request('cpuMs')
      const { ms } = await load.request('run', {
        port,
        path,
        token,
        connections: CONNECTIONS,
        count: requests,
      })
      return ratesOf({ ms, cpuMs: (await process.request('cpuMs')) - before }, requests)
    }
    const baselineRound = round(baselineProcess, baselinePort, count)
    const ourRound = round(ourProcess, target.port, count)
    await baselineRound()
    await ourRound()
    const results = await interleave(rounds, { baseline: baselineRound, ours: ourRound })
    return { bytes: Buffer.byteLength(response.body), ratios: compareRates(results.baseline, results.ours) }
  } finally {
    await Promise.all([load, ourProcess, baselineProcess].map((process) => process.stop()))
  }
}

/** @param {{ rounds: number, profile: boolean }} options */
export async function measureNode(options) {
  const { bytes, ratios } = await compareServers({
    ...options,
    ours: 'hookswitch',
    baseline: 'bare',
    count: 40_000,
  })
  return [
    {
      row: 'P4',
      measurement: `GET a webhook with token, node adapter, ${bytes} bytes`,
      baseline: 'bare node:http, same bytes',
      unit: 'ratio',
      goal: 0.7,
      floor: 0.5,
      ...ratios,
    },
  ]
}

/** @param {{ rounds: number, profile: boolean }} options */
export async function measureExpress(options) {
  const { bytes, ratios } = await compareServers({
    ...options,
    ours: 'express',
    baseline: 'bareExpress',
    count: 15_000,
  })
  return [
    {
      row: 'P5',
      measurement: `the same in Express 5, ${bytes} bytes`,
      baseline: 'an Express route, same bytes',
      unit: 'ratio',
      goal: 0.9,
      floor: 0.75,
      ...ratios,
    },
  ]
}
