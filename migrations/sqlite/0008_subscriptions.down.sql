DROP TABLE webhook_secrets;
DROP TABLE deliveries;
