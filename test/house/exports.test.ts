import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as core from 'hookswitch'
import * as adapter from 'hookswitch/adapter'
import * as asterisk from 'hookswitch/asterisk'
import * as blackhole from 'hookswitch/blackhole'
import * as cli from 'hookswitch/cli'
import * as client from 'hookswitch/client'
import * as express from 'hookswitch/express'
import * as fastify from 'hookswitch/fastify'
import * as fetch from 'hookswitch/fetch'
import * as freeswitch from 'hookswitch/freeswitch'
import * as kamailio from 'hookswitch/kamailio'
import * as node from 'hookswitch/node'
import * as opentelemetry from 'hookswitch/opentelemetry'
import * as portal from 'hookswitch/portal'
import * as postgres from 'hookswitch/postgres'
import * as prometheus from 'hookswitch/prometheus'
import * as simulator from 'hookswitch/simulator'
import * as sqlite from 'hookswitch/sqlite'
import * as store from 'hookswitch/store'
import * as testkit from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import tsup from '../../tsup.config.js'
import { ROOT, read } from './sources.js'

const packageJson = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** The exported values of each subpath. Removing a name breaks users; adding one is a commitment. */
const NAMES: Readonly<Record<string, readonly [object, readonly string[]]>> = {
  '.': [
    core,
    [
      'HookswitchError',
      'VERSION',
      'constant',
      'createHookswitch',
      'custom',
      'errorCode',
      'exponential',
      'memoryStore',
      'rotateSecret',
      'schedule',
      'verify',
    ],
  ],
  './adapter': [
    adapter,
    [
      'CALL_EVENTS',
      'ERROR_NAMES',
      'FAILURE_CAUSES',
      'MAX_BODY_BYTES',
      'METRICS',
      'OPTION_DEFAULTS',
      'POLICY_PRESETS',
      'accountLimit',
      'callEventName',
      'checkAccounts',
      'checkOptionNames',
      'checkService',
      'clientAddressResolver',
      'closestName',
      'connectionTarget',
      'createEventBus',
      'errorResponse',
      'limitLog',
      'payloadOf',
      'printable',
      'printableJson',
      'printableLine',
      'rateLimitSource',
      'safeLog',
      'systemClock',
      'systemRandom',
      'takeTokens',
      'textParts',
    ],
  ],
  './store': [
    store,
    [
      'CALL_RETENTION_MS',
      'ERASURE_STEPS',
      'HookswitchError',
      'LIVE_RETENTION_MS',
      'MAX_AHEAD_MS',
      'MAX_NODES',
      'REQUEST_BODY_BYTES',
      'SHARDS',
      'STATS_OUTCOMES',
      'STATS_STEPS',
      'accountRevision',
      'addCauses',
      'applyEndpointChange',
      'applyReplacement',
      'assertPlacement',
      'assertRevision',
      'canStart',
      'checkOptionNames',
      'checksPlacement',
      'ciphertextsOfApiKey',
      'ciphertextsOfWebhook',
      'compareInLane',
      'connectionTarget',
      'createPositions',
      'decideSettlement',
      'decodeRecord',
      'deleteWebhook',
      'deliveryBounds',
      'disabledByRepeat',
      'dueMsForReaders',
      'effectiveState',
      'encodeRecord',
      'erasedCallsOf',
      'errorCode',
      'eventIndexOf',
      'fairShare',
      'fillIn',
      'firstPosition',
      'hasCiphertexts',
      'hasStep',
      'idConflict',
      'idempotencyConflict',
      'inboxConflict',
      'inboxShard',
      'isCovered',
      'isDeliveryCovered',
      'isInterrupted',
      'isMentioned',
      'isNotWritten',
      'isTerminal',
      'laneKey',
      'laneKindOf',
      'laneName',
      'linkedLeg',
      'normalizeAccountName',
      'normalizeRealm',
      'normalizeRealmForSearch',
      'notFound',
      'notWritten',
      'partOf',
      'partiesOf',
      'placementOf',
      'planAcceptance',
      'planOwnership',
      'positionAt',
      'positionMs',
      'reasonOf',
      'shardOf',
      'toStoredAttempt',
      'truncateUtf8',
      'userNameKey',
      'userRevision',
      'userSortKey',
      'withApiKeyCiphertext',
      'withWebhookCiphertexts',
    ],
  ],
  './testkit': [
    testkit,
    [
      'callGenerator',
      'callRecorder',
      'closeSilently',
      'compileAddressPolicy',
      'delay',
      'dripBody',
      'dripHeaders',
      'endlessBody',
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
      'matches',
      'nextDelivery',
      'outcomeOf',
      'payloadOf',
      'provePolicy',
      'rawBytes',
      'recordedCalls',
      'redirect',
      'reset',
      'retryAfter',
      'scriptedDeliveries',
      'scriptedReceiver',
      'seededRandom',
      'shortBody',
      'simulateRetries',
      'status',
      'storeConformance',
      'takeCalls',
      'timeQueue',
      'unsolicited',
      'until',
    ],
  ],
  './simulator': [
    simulator,
    [
      'FAULT_KINDS',
      'createReport',
      'exhaust',
      'findUncovered',
      'formatReplayCommand',
      'minimise',
      'simulate',
      'storeModel',
    ],
  ],
  './node': [node, ['createServer', 'nodeHandler']],
  './express': [express, ['expressMiddleware']],
  './fastify': [fastify, ['fastifyPlugin']],
  './fetch': [fetch, ['fetchHandler']],
  './prometheus': [prometheus, ['prometheusMetrics']],
  './opentelemetry': [opentelemetry, ['openTelemetry']],
  './sqlite': [sqlite, ['sqliteExportSource', 'sqliteStore', 'undoMigration', 'vacuumDatabase']],
  './postgres': [postgres, ['migrateToPostgres', 'postgresStore']],
  './freeswitch': [
    freeswitch,
    [
      'OPTIONAL_HOOKS',
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
      'OPTIONAL_HOOKS',
      'accountFromAccountCode',
      'accountFromContext',
      'accountFromEndpoint',
      'accountFromVariable',
      'asteriskAmi',
      'asteriskAri',
    ],
  ],
  './kamailio': [kamailio, ['accountByDomain', 'accountDomain', 'kamailioMapper', 'kamailioSource']],
  './portal': [portal, ['portal']],
  './blackhole': [blackhole, ['blackhole']],
  './cli': [cli, ['serve']],
  './client': [client, ['HookswitchClientError', 'createClient']],
}

describe('the public API', () => {
  it('has the same subpaths in package.json, the build and the type paths', async () => {
    const entries = Object.keys(packageJson.exports).filter((entry) => !entry.endsWith('.json'))
    expect(entries).toEqual(Object.keys(NAMES))
    const configOf = tsup as (flags: object) => Promise<{ dts?: false | { entry: object } }[]>
    const built = (await configOf({ dts: false })).flatMap(({ dts }) => (dts ? Object.keys(dts.entry) : []))
    expect(built).toEqual(entries.map((entry) => (entry === '.' ? 'index' : entry.slice(2))))
    const { paths } = JSON.parse(read('tsconfig.json')).compilerOptions
    expect(Object.keys(paths)).toEqual(entries.map((entry) => `hookswitch${entry.slice(1)}`))
  })

  for (const [entry, [module, names]] of Object.entries(NAMES)) {
    it(`exports exactly the listed names from hookswitch${entry.slice(1)}`, () => {
      expect(Object.keys(module).sort()).toEqual([...names].sort())
    })
  }

  it('exports the version of package.json', () => {
    expect(core.VERSION).toBe(packageJson.version)
  })

  it('depends on exactly the listed packages at run time', () => {
    expect(Object.keys(packageJson.dependencies).sort()).toEqual([
      '@cfworker/json-schema',
      '@standard-schema/spec',
      'eventemitter3',
      'ipaddr.js',
      'lru-cache',
      'nanoid',
      'undici',
      'yaml',
    ])
  })
})
