import { errorCode } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { chooseSwitches } from '../../../adapters/cli/switch-options.js'
import { type GivenFlags, settingsOf } from './settings-of.js'

const ENV = { HOOKSWITCH_AMI_SECRET: 's3cret', HOOKSWITCH_ARI_PASSWORD: 'p4ss' }

const choose = async (flags: GivenFlags, env: Record<string, string> = {}) =>
  chooseSwitches(await settingsOf(flags, env), env)

async function errorOf(flags: GivenFlags, env: Record<string, string> = ENV): Promise<Error> {
  try {
    await choose(flags, env)
  } catch (thrown) {
    expect(errorCode(thrown)).toBe('InvalidOption')
    return thrown as Error
  }
  throw new Error('accepted')
}

describe('chooseSwitches', () => {
  it('returns nothing without a switch', async () => {
    expect(await choose({}, ENV)).toEqual([])
  })

  it('fills in default ports, and passwords from the environment', async () => {
    const flags: GivenFlags = {
      freeswitch: ['pbx1', '10.1.2.3:9021', '[::1]:8022'],
      freeswitchOutbound: ['0.0.0.0'],
      asteriskAmi: ['hook@pbx2'],
      asteriskAri: ['http://me@pbx3:8088/ari/'],
      kamailio: [],
      accountFrom: 'variable:ACCOUNT_ID',
    }
    const accountFrom = { kind: 'variable', name: 'ACCOUNT_ID' }
    const freeswitch = { kind: 'freeswitch', accountFrom }
    expect(await choose(flags, { ...ENV, HOOKSWITCH_FREESWITCH_PASSWORD: 'fs' })).toEqual([
      { ...freeswitch, options: { host: 'pbx1', port: 8021, password: 'fs' } },
      { ...freeswitch, options: { host: '10.1.2.3', port: 9021, password: 'fs' } },
      { ...freeswitch, options: { host: '::1', port: 8022, password: 'fs' } },
      { kind: 'freeswitch-outbound', accountFrom, options: { host: '0.0.0.0', port: 8084 } },
      {
        kind: 'asterisk-ami',
        accountFrom,
        options: { host: 'pbx2', port: 5038, username: 'hook', secret: 's3cret' },
        isTls: false,
      },
      {
        kind: 'asterisk-ari',
        accountFrom,
        options: { url: 'http://pbx3:8088/ari', username: 'me', password: 'p4ss' },
      },
    ])
  })

  it('reads the parameters of each switch, and its own rule for the account', async () => {
    const flags: GivenFlags = {
      freeswitch: [
        'pbx1?account-from=realm&custom-variables=crm_id,queue&extra-events=CHANNEL_EXECUTE&format=plain&optional-hooks=missed_call,parking' +
          '&silence-ms=5000&connect-timeout-ms=3000&account-wait-ms=30000&max-open-legs=5000&password-env=PBX1',
      ],
      freeswitchOutbound: [
        '[::]:8085?allow=10.0.0.7,::1&max-connections=50&optional-hooks=none&continue-with=transfer 2001 XML public',
      ],
      asteriskAmi: ['hook@pbx2?tls=yes&ca=/etc/ca%20file.pem&realm-from=account&account-from=endpoint'],
      asteriskAri: [
        'https://me@pbx3/ari?app=hookswitch-1&realm-from=fixed:pbx.example&account-from=variable:TENANT',
        'http://me@pbx4:8088/ari?realm-from=variable:REALM',
      ],
      kamailio: ['proxy?max-call-ms=60000&account-from=realm'],
      accountFrom: 'context',
    }
    const env = { ...ENV, PBX1: 'of pbx1' }
    expect(await choose(flags, env)).toEqual([
      {
        kind: 'freeswitch',
        accountFrom: { kind: 'realm' },
        options: {
          host: 'pbx1',
          port: 8021,
          password: 'of pbx1',
          customVariables: ['crm_id', 'queue'],
          optionalHooks: ['missed_call', 'parking'],
          extraEvents: ['CHANNEL_EXECUTE'],
          format: 'plain',
          silenceMs: 5_000,
          connectTimeoutMs: 3_000,
          accountWaitMs: 30_000,
          maxOpenLegs: 5_000,
        },
      },
      {
        kind: 'freeswitch-outbound',
        accountFrom: { kind: 'context' },
        options: {
          host: '::',
          port: 8085,
          optionalHooks: [],
          allow: ['10.0.0.7', '::1'],
          maxConnections: 50,
        },
        continueWith: 'transfer 2001 XML public',
      },
      {
        kind: 'asterisk-ami',
        accountFrom: { kind: 'endpoint' },
        options: { host: 'pbx2', port: 5039, username: 'hook', secret: 's3cret' },
        realmFrom: { kind: 'account' },
        isTls: true,
        caFile: '/etc/ca file.pem',
      },
      {
        kind: 'asterisk-ari',
        accountFrom: { kind: 'variable', name: 'TENANT' },
        options: { url: 'https://pbx3/ari', username: 'me', password: 'p4ss', app: 'hookswitch-1' },
        realmFrom: { kind: 'fixed', name: 'pbx.example' },
      },
      {
        kind: 'asterisk-ari',
        accountFrom: { kind: 'context' },
        options: { url: 'http://pbx4:8088/ari', username: 'me', password: 'p4ss' },
        realmFrom: { kind: 'variable', name: 'REALM' },
      },
      {
        kind: 'kamailio',
        accountFrom: { kind: 'realm' },
        options: { host: 'proxy', port: 8448, maxCallMs: 60_000 },
      },
    ])
  })

  it('reads switches of a file as text or as objects, with passwords of their own', async () => {
    const env = {
      PBX2: 'of pbx2',
      HOOKSWITCH_ASTERISK_AMI: JSON.stringify([
        { address: 'hook@pbx1', password: 'of pbx1', tls: true, ca: '/ca.pem', accountFrom: 'context' },
        { address: 'hook@pbx2:5040', passwordEnv: 'PBX2', accountFrom: 'endpoint', optionalHooks: [] },
        'hook@pbx3?account-from=context&custom-variables=a,b',
      ]),
      HOOKSWITCH_AMI_SECRET: 'of all',
    }
    expect(await choose({}, env)).toEqual([
      {
        kind: 'asterisk-ami',
        accountFrom: { kind: 'context' },
        options: { host: 'pbx1', port: 5039, username: 'hook', secret: 'of pbx1' },
        isTls: true,
        caFile: '/ca.pem',
      },
      {
        kind: 'asterisk-ami',
        accountFrom: { kind: 'endpoint' },
        options: { host: 'pbx2', port: 5040, username: 'hook', secret: 'of pbx2', optionalHooks: [] },
        isTls: false,
      },
      {
        kind: 'asterisk-ami',
        accountFrom: { kind: 'context' },
        options: {
          host: 'pbx3',
          port: 5038,
          username: 'hook',
          secret: 'of all',
          customVariables: ['a', 'b'],
        },
        isTls: false,
      },
    ])
  })

  it('needs no --account-from where each switch has its own rule', async () => {
    const flags = { freeswitch: ['pbx1?account-from=realm', 'pbx2?account-from=variable:A'] }
    expect((await choose(flags, {})).map(({ accountFrom }) => accountFrom.kind)).toEqual([
      'realm',
      'variable',
    ])
  })

  it('reads the account from the realm when only Kamailio is given', async () => {
    expect(await choose({ kamailio: ['proxy'] }, {})).toEqual([
      { kind: 'kamailio', accountFrom: { kind: 'realm' }, options: { host: 'proxy', port: 8448 } },
    ])
  })

  it.each([
    [{ freeswitch: ['pbx'] }, /^--account-from: is required/],
    [{ accountFrom: 'realm' }, /^--account-from: needs a switch, and none is given/],
    [{ freeswitch: ['pbx'], accountFrom: 'variable' }, /^--account-from: needs a name: variable:NAME/],
    [{ freeswitch: ['pbx'], accountFrom: 'variable:a b' }, /^--account-from: needs a name/],
    [{ freeswitch: ['pbx'], accountFrom: 'realm:x' }, /^--account-from: realm takes no name/],
    [{ freeswitch: ['pbx'], accountFrom: 'color' }, /^--account-from: must be variable:NAME, .* not 'color'/],
    [{ asteriskAri: ['http://u@pbx'], accountFrom: 'realm' }, /cannot be realm with asterisk-ari/],
    [
      { kamailio: ['p?account-from=variable:a'] },
      /^--kamailio: the parameter account-from cannot be variable with kamailio, which provides realm/,
    ],
    [{ asteriskAmi: ['u@pbx'], accountFrom: 'sip-header:X-A' }, /cannot be sip-header with asterisk-ami/],
    [{ freeswitch: ['pbx:0'], accountFrom: 'realm' }, /^--freeswitch: must be HOST or HOST:PORT/],
    [{ freeswitch: ['pbx:99999'], accountFrom: 'realm' }, /^--freeswitch: must be/],
    [{ freeswitch: ['a b'], accountFrom: 'realm' }, /^--freeswitch: must be/],
    [{ freeswitch: [''], accountFrom: 'realm' }, /^--freeswitch: must be/],
    [{ asteriskAmi: ['pbx'], accountFrom: 'context' }, /^--asterisk-ami: must be USER@HOST:PORT/],
    [{ asteriskAmi: ['u:pw@pbx'], accountFrom: 'context' }, /^--asterisk-ami: must be USER@HOST:PORT/],
    [{ asteriskAmi: ['u@127.0.0.1:x'], accountFrom: 'context' }, /^--asterisk-ami: must be .*USER@HOST:PORT/],
    [{ asteriskAmi: ['u\r\nx@pbx'], accountFrom: 'context' }, /^--asterisk-ami: must be USER@HOST:PORT/],
    [{ asteriskAri: ['http://%zz@pbx/ari'], accountFrom: 'context' }, /^--asterisk-ari: has an invalid user/],
    [
      { asteriskAri: ['http://a%0d%0ab@pbx'], accountFrom: 'context' },
      /^--asterisk-ari: has an invalid user/,
    ],
    [
      { asteriskAri: ['http://a%3Ab@pbx/ari'], accountFrom: 'context' },
      /^--asterisk-ari: has an invalid user/,
    ],
    [{ asteriskAri: ['http://a@pbx/ari#x'], accountFrom: 'context' }, /^--asterisk-ari: .*without #/],
    [{ asteriskAri: ['http://a@pbx/\r\nari'], accountFrom: 'context' }, /^--asterisk-ari: .*on one line/],
    [{ asteriskAri: ['pbx'], accountFrom: 'context' }, /^--asterisk-ari: must be a URL/],
    [{ asteriskAri: ['ftp://u@pbx'], accountFrom: 'context' }, /^--asterisk-ari: must be a URL/],
    [{ asteriskAri: ['http://pbx'], accountFrom: 'context' }, /the user is missing/],
    [{ asteriskAri: ['http://u:hush@pbx'], accountFrom: 'context' }, /must not contain a password/],
    [
      { asteriskAri: ['http://u@pbx/ari?x=1'] },
      /^--asterisk-ari: has no parameter x: it has account-from, account-wait-ms, .*, app$/,
    ],
    [
      { freeswitch: ['pbx?acount-from=realm'] },
      /^--freeswitch: has no parameter acount-from \(did you mean 'account-from'\?\)$/,
    ],
    [{ kamailio: ['p?app=x'] }, /^--kamailio: has no parameter app: it has account-from, /],
    [{ kamailio: ['p?'] }, /^--kamailio: must be ADDRESS\?name=value&name=value$/],
    [{ kamailio: ['p?Pass:pw=1'] }, /^--kamailio: must be ADDRESS\?name=value&name=value$/],
    [{ kamailio: ['p?constructor=1'] }, /^--kamailio: has no parameter constructor/],
    [{ kamailio: ['p?max-call-ms'] }, /^--kamailio: the parameter max-call-ms needs a value: max-call-ms=…$/],
    [
      { kamailio: ['p?max-call-ms=%zz'] },
      /^--kamailio: the parameter max-call-ms has a wrong percent-encoding$/,
    ],
    [
      { kamailio: ['p?max-call-ms=2000&max-call-ms=3000'] },
      /^--kamailio: the parameter max-call-ms was given twice$/,
    ],
    [
      { freeswitch: ['pbx?account-wait-ms=10s'] },
      /^--freeswitch: the parameter account-wait-ms must be an integer from 0 to 86400000$/,
    ],
    [
      { freeswitch: ['pbx?account-from=variable'] },
      /^--freeswitch: the parameter account-from needs a name: variable:NAME$/,
    ],
    [
      { freeswitch: ['pbx?extra-events=CHANNEL_EXECUTE,all'] },
      /^--freeswitch: the parameter extra-events must be names of FreeSWITCH events .*, separated by commas$/,
    ],
    [
      { freeswitch: ['pbx?optional-hooks=missed_calls'] },
      /^--freeswitch: the parameter optional-hooks must be none, or of channel_transferee, .*, separated by commas$/,
    ],
    [{ freeswitch: ['pbx?format=xml'] }, /^--freeswitch: the parameter format must be json or plain$/],
    [
      { freeswitch: ['pbx?password-env=hu%20sh'] },
      /^--freeswitch: the parameter password-env must be the name of an environment variable$/,
    ],
    [
      { freeswitch: ['pbx?account-from=realm&password-env=hush'] },
      /^--freeswitch: the parameter password-env names a variable that is not set$/,
    ],
    [
      { freeswitchOutbound: ['0.0.0.0?continue-with=a%0Ab'] },
      /^--freeswitch-outbound: the parameter continue-with must be a dial plan application/,
    ],
    [
      { freeswitchOutbound: ['0.0.0.0?allow=all'] },
      /^--freeswitch-outbound: the parameter allow must be addresses, separated by commas$/,
    ],
    [
      { freeswitchOutbound: ['0.0.0.0?allow=10.0.0.7,10.0.0.7.1'] },
      /^--freeswitch-outbound: the parameter allow must be addresses, separated by commas$/,
    ],
    [
      { freeswitch: ['pbx?account-from=realm&password-env=toString'] },
      /^--freeswitch: the parameter password-env names a variable that is not set$/,
    ],
    [{ asteriskAmi: ['u@pbx?ca=/ca.pem'] }, /^--asterisk-ami: the parameter ca needs tls=yes$/],
    [
      { asteriskAri: ['http://u@pbx?app=a,b'] },
      /^--asterisk-ari: the parameter app must be the name of an application, without spaces and commas$/,
    ],
    [
      { asteriskAri: ['http://u@pbx?realm-from=realm'] },
      /^--asterisk-ari: the parameter realm-from must be account, variable:NAME or fixed:DOMAIN$/,
    ],
  ])('rejects %j', async (flags, sentence) => {
    const { message } = await errorOf(flags)
    expect(message).toMatch(sentence)
    expect(message).not.toMatch(/hush|:pw/)
  })

  it('accepts a Kamailio beside other switches, whatever --account-from is', async () => {
    const flags = { kamailio: ['proxy'], freeswitch: ['pbx'], accountFrom: 'variable:X' }
    expect((await choose(flags, {})).map(({ kind }) => kind)).toEqual(['freeswitch', 'kamailio'])
    const rejected = { kamailio: ['proxy'], asteriskAmi: ['u@pbx'], accountFrom: 'realm' }
    expect((await errorOf(rejected)).message).toMatch(/cannot be realm with asterisk-ami/)
  })

  it('requires the passwords, one line each', async () => {
    const chosen = { asteriskAmi: ['u@pbx'], accountFrom: 'context' }
    expect((await errorOf(chosen, {})).message).toBe('HOOKSWITCH_AMI_SECRET: is required by --asterisk-ami')
    const empty = { HOOKSWITCH_AMI_SECRET: '' }
    expect((await errorOf(chosen, empty)).message).toBe('HOOKSWITCH_AMI_SECRET: must not be empty')
    const injected = { HOOKSWITCH_AMI_SECRET: 'a\r\nAction: Originate' }
    expect((await errorOf(chosen, injected)).message).toBe('HOOKSWITCH_AMI_SECRET: must be one line of text')
    const own = { asteriskAmi: ['u@pbx?password-env=PBX1'], accountFrom: 'context' }
    expect((await errorOf(own, { ...ENV, PBX1: '' })).message).toBe(
      '--asterisk-ami: the parameter password-env names a variable that must not be empty',
    )
  })
})
