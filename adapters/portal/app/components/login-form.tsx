/** The login: by API key, or by user name, password and realm. */
import { useSignal } from '@preact/signals'
import { logIn, statusOf } from '../api/api.js'
import { hostSession } from '../api/host-session.js'
import { HAS_HOST_LOGIN } from '../api/settings.js'
import { describe } from '../state/action.js'
import { begin, type Session } from '../state/session.js'
import { t } from '../state/translate.js'

export function LoginForm() {
  return HAS_HOST_LOGIN ? <HostLogin /> : <OwnLogin />
}

/** Runs a login; the error is shown in the form. */
function useLogin() {
  const isRunning = useSignal(false)
  const error = useSignal('')
  const run = async (request: () => Promise<Session | undefined>) => {
    isRunning.value = true
    error.value = ''
    try {
      const found = await request()
      if (found) begin(found)
      else error.value = t('login.hostRefused')
    } catch (thrown) {
      error.value = statusOf(thrown) === 401 ? t('login.refused') : describe(thrown)
    } finally {
      isRunning.value = false
    }
  }
  return { isRunning, error, run }
}

/** The user signs in to the host, in another tab or before; then the page gets the token again. */
function HostLogin() {
  const { isRunning, error, run } = useLogin()
  return (
    <div class="login">
      <p>{t('login.host')}</p>
      {error.value !== '' && (
        <p class="problem" role="alert">
          {error.value}
        </p>
      )}
      <button type="button" class="primary" disabled={isRunning.value} onClick={() => void run(hostSession)}>
        {t('action.retry')}
      </button>
    </div>
  )
}

/** What browsers hide as it is typed. */
const SECRET = { type: 'password' } as const

function OwnLogin() {
  const way = useSignal<'key' | 'user'>('key')
  const apiKey = useSignal('')
  const username = useSignal('')
  const password = useSignal('')
  const realm = useSignal('')
  const { isRunning, error, run } = useLogin()
  const submit = (event: Event) => {
    event.preventDefault()
    const user = {
      username: username.value.trim(),
      password: password.value,
      realm: realm.value.trim(),
      // The digest is computed here; browsers have no MD5, and their SHA-1 only on secure origins.
      method: 'sha' as const,
    }
    void run(() => logIn(way.value === 'key' ? { apiKey: apiKey.value.trim() } : { user }))
  }
  const field = (name: string, signal: typeof apiKey, autocomplete: string, isSecret = false) => (
    <label>
      <span>{name}</span>
      <input
        required
        value={signal.value}
        {...(isSecret && SECRET)}
        autocomplete={autocomplete}
        autocapitalize="none"
        spellcheck={false}
        onInput={(event) => {
          signal.value = event.currentTarget.value
        }}
      />
    </label>
  )
  const choice = (value: 'key' | 'user', label: string) => (
    <label class="choice">
      <input
        type="radio"
        name="way"
        checked={way.value === value}
        onChange={() => {
          way.value = value
        }}
      />
      {label}
    </label>
  )
  return (
    <form class="login" onSubmit={submit}>
      <fieldset>
        <legend>{t('login.way')}</legend>
        {choice('key', t('login.byKey'))}
        {choice('user', t('login.byUser'))}
      </fieldset>
      {way.value === 'key'
        ? field(t('login.apiKey'), apiKey, 'current-password', true)
        : [
            field(t('login.username'), username, 'username'),
            field(t('login.password'), password, 'current-password', true),
            field(t('login.realm'), realm, 'organization'),
          ]}
      {error.value !== '' && (
        <p class="problem" role="alert">
          {error.value}
        </p>
      )}
      <button type="submit" class="primary" disabled={isRunning.value}>
        {t('login.submit')}
      </button>
    </form>
  )
}
