// Certificates for tests: an authority, a server of 127.0.0.1 and `redis.test`, a client, and a client of another authority.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const whyNoOpenssl = existsSync('/usr/bin/openssl') ? '' : 'openssl missing'

export interface Certificates {
  readonly folder: string
  path(name: string): string
  text(name: string): string
  remove(): void
}

/** ca.pem, server.pem, client.pem, other-ca.pem, stranger.pem, and the keys of each as NAME.key. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'urlsieve-tls-'))
  const path = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const authority = (name: string) =>
    openssl(
      'req',
      '-x509',
      ...ec,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
    )
  const signed = (name: string, ca: string) => {
    writeFileSync(path('names'), 'subjectAltName=IP:127.0.0.1,DNS:redis.test\n')
    openssl('req', ...ec, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`)
    const by = [
      '-CA',
      `${ca}.pem`,
      '-CAkey',
      `${ca}.key`,
      '-CAcreateserial',
      '-days',
      '2',
      '-extfile',
      'names',
    ]
    openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-out', `${name}.pem`)
  }
  authority('ca')
  authority('other-ca')
  signed('server', 'ca')
  signed('client', 'ca')
  signed('stranger', 'other-ca')
  return {
    folder,
    path,
    text: (name) => readFileSync(path(name), 'utf8'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The settings of a redis-server that speaks TLS on `port`, to clients with a certificate only. */
export const tlsSettings = ({ path }: Certificates, port: number): string[] => [
  ...['--cluster-announce-ip', '127.0.0.1', '--tls-cluster', 'yes'],
  ...['--tls-port', String(port), '--tls-ca-cert-file', path('ca.pem')],
  ...['--tls-cert-file', path('server.pem'), '--tls-key-file', path('server.key')],
]
