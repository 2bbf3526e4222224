import { randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  PutBucketPolicyCommand,
  PutBucketWebsiteCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { s3Storage } from '../src/storage/s3-storage.ts';
import type { TestStorage } from './storage-suite.ts';

/** A server with the interface of S3, and its access key. */
export interface S3Server {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const REGION = 'us-east-1';

function clientOf({ endpoint, ...credentials }: S3Server): S3Client {
  return new S3Client({ endpoint, credentials, region: REGION, forcePathStyle: true });
}

/** Makes a bucket that is a public website: everybody may read its objects without a key. */
export async function makePublicBucket(server: S3Server, Bucket: string): Promise<void> {
  const client = clientOf(server);
  await client.send(new CreateBucketCommand({ Bucket }));
  const WebsiteConfiguration = { IndexDocument: { Suffix: 'checkpoint' } };
  await client.send(new PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration }));
  const Statement = [
    { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${Bucket}/*` },
  ];
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
  await client.send(new PutBucketPolicyCommand({ Bucket, Policy }));
}

/** A storage under a prefix of its own. */
export function bucketStorage(server: S3Server, Bucket: string): TestStorage {
  const { endpoint, ...credentials } = server;
  const prefix = `${randomUUID()}/`;
  const client = clientOf(server);
  return {
    storage: s3Storage(
      { bucket: Bucket, prefix },
      { region: null, endpoint, credentials, file: { filepath: '/nowhere', profile: 'default' } },
    ),
    overwrite: async (path, Body) => {
      await client.send(new PutObjectCommand({ Bucket, Key: prefix + path, Body }));
    },
    remove: async (path) => {
      await client.send(new DeleteObjectCommand({ Bucket, Key: prefix + path }));
    },
  };
}
