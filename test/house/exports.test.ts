import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as core from 'hookswitch'
import * as asterisk from 'hookswitch/asterisk'
import * as cli from 'hookswitch/cli'
import * as express from 'hookswitch/express'
import * as fastify from 'hookswitch/fastify'
import * as fetch from 'hookswitch/fetch'
import * as freeswitch from 'hookswitch/freeswitch'
import * as kamailio from 'hookswitch/kamailio'
import * as node from 'hookswitch/node'
import * as opentelemetry from 'hookswitch/opentelemetry'
import * as postgres from 'hookswitch/postgres'
import * as prometheus from 'hookswitch/prometheus'
import * as sqlite from 'hookswitch/sqlite'
import * as store from 'hookswitch/store'
import * as testkit from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import tsup from '../../tsup.config.js'
import { ROOT, read } from './sources.js'

const packed = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** What people import from us: a name that is gone breaks them, a new one is a promise. */
const NAMES: Readonly<Record<string, readonly [object, readonly string[]]>> = {
  '.': [
    core,
    [
      'HookswitchError',
      'LIFECYCLE',
      'MAX_BODY_BYTES',
      'METRICS',
      'OPTION_DEFAULTS',
      'POLICY_PRESETS',
      'REFUSAL_NAMES',
      'SETTINGS_DEFAULTS',
      'VERSION',
      'backoffMs',
      'canonicalUri',
      'catalogueOf',
      'checkEvent',
      'checkSettings',
      'compilePolicy',
      'constant',
      'createHookswitch',
      'createWebhook',
      'credentialDigest',
      'custom',
      'errorCode',
      'errorResponse',
      'eventHub',
      'exponential',
      'formEncode',
      'hasAuthority',
      'isLive',
      'matches',
      'memoryStore',
      'nextDelivery',
      'outcomeOf',
      'patchWebhook',
      'payloadOf',
      'readWebhook',
      'removeWebhook',
      'replaceWebhook',
      'safeLog',
      'schedule',
      'sign',
      'systemClock',
      'systemRandom',
      'verify',
    ],
  ],
  './store': [
    store,
    [
      'HookswitchError',
      'REQUEST_BODY_BYTES',
      'SHARDS',
      'accepted',
      'asRead',
      'claimed',
      'cutToBytes',
      'disabledByService',
      'errorCode',
      'fairShare',
      'fillIn',
      'inboxShard',
      'isFailing',
      'isMentioned',
      'isProbed',
      'isTerminal',
      'keepsHealth',
      'nameKey',
      'notFound',
      'originOf',
      'planOwnership',
      'promoted',
      'readAttempt',
      'realmKey',
      'replacementOf',
      'settledAs',
      'shardOf',
      'webhookAfter',
    ],
  ],
  './testkit': [
    testkit,
    [
      'FAULT_KINDS',
      'callGenerator',
      'callRecorder',
      'closeSilently',
      'courseOf',
      'delay',
      'dripBody',
      'dripHeaders',
      'endlessBody',
      'exhaust',
      'fakeAsteriskAmi',
      'fakeAsteriskAri',
      'fakeFreeswitch',
      'fakeKamailio',
      'flood1xx',
      'garbage',
      'gate',
      'gzipBomb',
      'hang',
      'manualClock',
      'minimise',
      'provePolicy',
      'rawBytes',
      'recordedCalls',
      'redirect',
      'replayCommand',
      'reportOf',
      'reset',
      'retryAfter',
      'scriptedDeliveries',
      'scriptedReceiver',
      'seededRandom',
      'serviceModel',
      'shortBody',
      'simulate',
      'status',
      'storeConformance',
      'storeModel',
      'takeCalls',
      'timeQueue',
      'uncovered',
      'unsolicited',
      'until',
    ],
  ],
  './node': [node, ['createServer', 'nodeHandler']],
  './express': [express, ['expressMiddleware']],
  './fastify': [fastify, ['fastifyPlugin']],
  './fetch': [fetch, ['fetchHandler']],
  './prometheus': [prometheus, ['prometheusMetrics']],
  './opentelemetry': [opentelemetry, ['openTelemetry']],
  './sqlite': [sqlite, ['sqliteSource', 'sqliteStore', 'undoMove']],
  './postgres': [postgres, ['moveToPostgres', 'postgresStore']],
  './freeswitch': [
    freeswitch,
    [
      'accountFromAccountCode',
      'accountFromContext',
      'accountFromEndpoint',
      'accountFromRealm',
      'accountFromSipHeader',
      'accountFromVariable',
      'freeswitchOutbound',
      'freeswitchSource',
    ],
  ],
  './asterisk': [
    asterisk,
    [
      'accountFromAccountCode',
      'accountFromContext',
      'accountFromEndpoint',
      'accountFromVariable',
      'asteriskAmi',
      'asteriskAri',
    ],
  ],
  './kamailio': [kamailio, ['accountByDomain', 'accountDomain', 'kamailioMapper', 'kamailioSource']],
  './cli': [cli, ['serve']],
}

/** Programs of the build that nobody imports. */
const NO_SUBPATH = ['bin', 'sqlite-worker']

describe('the public face', () => {
  it('has these entries in package.json, the build and the type paths alike', () => {
    const entries = Object.keys(packed.exports).filter((entry) => entry !== './package.json')
    expect(entries).toEqual(Object.keys(NAMES))
    const built = (tsup as { entry: object }[])
      .flatMap(({ entry }) => Object.keys(entry))
      .filter((name) => !NO_SUBPATH.includes(name))
    expect(built).toEqual(entries.map((entry) => (entry === '.' ? 'index' : entry.slice(2))))
    const { paths } = JSON.parse(read('tsconfig.json')).compilerOptions
    expect(Object.keys(paths)).toEqual(entries.map((entry) => `hookswitch${entry.slice(1)}`))
  })

  for (const [entry, [module, names]] of Object.entries(NAMES)) {
    it(`exports these names from hookswitch${entry.slice(1)}`, () => {
      expect(Object.keys(module).sort()).toEqual([...names].sort())
    })
  }

  it('says its own version', () => {
    expect(core.VERSION).toBe(packed.version)
  })

  it('needs at run time what it imports, and nothing else', () => {
    expect(Object.keys(packed.dependencies).sort()).toEqual([
      'eventemitter3',
      'ipaddr.js',
      'lru-cache',
      'undici',
    ])
  })
})
